// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/utipc/utipc/internal/nearest"
)

// A Program is a program that has several commands.
type Program struct {
	Name     string
	Short    string     // what it is
	Example  string     // a command line that works
	Commands []*Command // in the order of the list
	Manual   Manual
}

// A Manual is what the manual page of a program says besides its commands.
type Manual struct {
	Description string
	Status      string // the exit status
	Environment [][2]string
}

// New makes a program of its commands and of those that every program has: completion,
// man and version. It sorts them by name.
func New(p Program) *Program {
	p.Commands = append(p.Commands, p.completionCommand(), p.manCommand(), p.versionCommand())
	slices.SortFunc(p.Commands, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return &p
}

func (p *Program) writeUsage(w io.Writer) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s.\n\n    %[1]s COMMAND [ARGUMENTS]\n\n", p.Name, p.Short)
	for _, c := range p.Commands {
		fmt.Fprintf(&b, "    %-10s %s\n", c.Name, c.Short)
	}
	fmt.Fprintf(&b, "\n'%s COMMAND -h' tells more of each. For example:\n\n    %s\n", p.Name, p.Example)
	w.Write(b.Bytes())
}

// Run runs the command that args name, as os.Args[1:] do, and returns the status
// to exit with.
func (p *Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		p.writeUsage(stderr)
		return Misuse
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		if len(args) == 2 {
			return p.Run(ctx, []string{args[1], "-h"}, stdin, stdout, stderr)
		}
		p.writeUsage(stdout)
		return Done
	case "-version", "--version":
		args = []string{"version"}
	}
	if c := p.Find(args[0]); c != nil {
		std, flush := Stdio{stdin, stdout, stderr}.text()
		defer flush()
		return p.exec(ctx, c, c.Name, args[1:], std)
	}
	fmt.Fprintf(stderr, "%s: no command %q%s; '%[1]s -h' lists them\n", p.Name, args[0], nearest.Hint(args[0], names(p.Commands)))
	return Misuse
}

// exec runs a command, which is known by name: that of the command it belongs to
// and its own.
func (p *Program) exec(ctx context.Context, c *Command, name string, args []string, std Stdio) int {
	if len(c.Commands) > 0 && len(args) > 0 {
		for _, sub := range c.Commands {
			if sub.Name == args[0] {
				return p.exec(ctx, sub, name+" "+sub.Name, args[1:], std)
			}
		}
	}
	run := c.Run
	if run == nil {
		run = c.noneOf
	}
	err := run(ctx, args, std)
	var misuse UsageError
	var status Status
	var help HelpError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &help):
		io.WriteString(std.Out, c.Help(help.Flags))
		return Done
	case errors.As(err, &misuse):
		fmt.Fprintf(std.Err, "%s %s: %v; '%[1]s %[2]s -h' shows how\n", p.Name, name, misuse)
		return Misuse
	}
	fmt.Fprintf(std.Err, "%s %s: %v\n", p.Name, name, err)
	return Failed
}

// noneOf runs a command whose arguments begin with none of its commands.
func (c *Command) noneOf(_ context.Context, args []string, _ Stdio) error {
	rest, err := Parse(NewFlags(c.Name), args[:min(len(args), 1)], 1, 1)
	if err != nil {
		return err
	}
	return UsageError(fmt.Sprintf("no command %q%s", rest[0], nearest.Hint(rest[0], names(c.Commands))))
}

// Find returns the command of a name, or the one command whose name begins so. Of several,
// those that come First are meant.
func (p *Program) Find(name string) *Command {
	var first, all []*Command
	for _, c := range p.Commands {
		switch {
		case c.Name == name:
			return c
		case name == "" || !strings.HasPrefix(c.Name, name):
			continue
		case c.First:
			first = append(first, c)
		}
		all = append(all, c)
	}
	switch {
	case len(first) == 1:
		return first[0]
	case len(all) == 1:
		return all[0]
	}
	return nil
}

// Main runs a program with the arguments of the process, until it is done or a signal
// interrupts it, and exits.
func Main(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills, should the first not be heard
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
