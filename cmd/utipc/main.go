// SPDX-License-Identifier: Apache-2.0

// Utipc is the one program of the stack: it looks at TIPC traffic and takes part
// in it.
//
//	utipc COMMAND [ARGUMENTS]
//
// It exits with 0 when done, 1 when it failed, 2 when it was misused; the words of
// tipc(8) with 255 when they failed, as there. Data goes to the standard output, all
// else to the standard error.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// How the program ends.
const (
	exitDone   = 0
	exitFailed = 1
	exitMisuse = 2
)

// A command is one subcommand. Each has a file of its own and a line in commands.
type command struct {
	name  string
	short string // what it does, for the list of commands
	usage string // the whole of what -h prints, with an example that works
	// words are what may stand behind the name, a line for each way, alternatives
	// parted by bars: "get priority|tolerance|window". Completion and the man page
	// offer them; the flags they ask run for.
	words []string
	// run does it. A usageError means it was called in a way it does not know; the
	// error of ctx means it was interrupted.
	run func(ctx context.Context, args []string, std stdio) error
}

// commands is the table, in the order of the list. It is a function because some
// commands look into it.
func commands() []*command {
	return []*command{
		&auditCommand,
		toolCommand("bearer", "utipc bearer list"),
		&benchCommand,
		&captureCommand,
		&catCommand,
		&clientsCommand,
		completionCommand(),
		&daemonCommand,
		&decodeCommand,
		&demoCommand,
		&doctorCommand,
		&echoCommand,
		toolCommand("link", "utipc link statistics show"),
		manCommand(),
		&mapCommand,
		toolCommand("media", "utipc media get window media eth"),
		toolCommand("nametable", "utipc nametable show"),
		toolCommand("node", "utipc node list"),
		toolCommand("peer", "utipc peer remove address 1.1.7"),
		&perfCommand,
		&pingCommand,
		&replayCommand,
		&simCommand,
		toolCommand("socket", "utipc socket list"),
		&topCommand,
		&versionCommand,
		&watchCommand,
	}
}

// A stdio is the world a command sees.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// A usageError says how a command was misused.
type usageError string

func (e usageError) Error() string { return string(e) }

// A helpError is flag.ErrHelp of a command with these flags.
type helpError struct {
	flags *flag.FlagSet
	usage string // what is to be printed; empty: the command's
}

func (helpError) Error() string { return flag.ErrHelp.Error() }
func (helpError) Unwrap() error { return flag.ErrHelp }

// parse reads a command's flags and returns the arguments behind them, which it
// checks to be at least least and at most most in number; most < 0 means any.
func parse(flags *flag.FlagSet, args []string, least, most int) ([]string, error) {
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, helpError{flags: flags}
		}
		return nil, usageError(err.Error())
	}
	switch n := flags.NArg(); {
	case most < 0 && n > 1 && slices.ContainsFunc(flags.Args()[1:], func(a string) bool { return strings.HasPrefix(a, "--") }):
		return nil, usageError("flags stand before the arguments")
	case n < least:
		return nil, usageError("too few arguments")
	case most >= 0 && n > most && strings.HasPrefix(flags.Arg(most), "-"):
		return nil, usageError("flags stand before the arguments")
	case most >= 0 && n > most:
		return nil, usageError("too many arguments")
	}
	return flags.Args(), nil
}

// plain makes a command of f, which takes no arguments and prints to the output.
func plain(name string, f func(ctx context.Context, out io.Writer) error) func(context.Context, []string, stdio) error {
	return func(ctx context.Context, args []string, std stdio) error {
		if _, err := parse(flag.NewFlagSet(name, flag.ContinueOnError), args, 0, 0); err != nil {
			return err
		}
		return f(ctx, std.out)
	}
}

func writeUsage(w io.Writer) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "utipc: TIPC in user space.\n\n    utipc COMMAND [ARGUMENTS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %-10s %s\n", c.name, c.short)
	}
	fmt.Fprintf(&b, "\n'utipc COMMAND -h' tells more of each. For example:\n\n    utipc decode capture.pcap\n")
	w.Write(b.Bytes())
}

// run runs the command that args name, as os.Args[1:] do, and returns the status
// to exit with.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		writeUsage(stderr)
		return exitMisuse
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		if len(args) == 2 {
			return run(ctx, []string{args[1], "-h"}, stdin, stdout, stderr)
		}
		writeUsage(stdout)
		return exitDone
	case "-version", "--version":
		args = []string{"version"}
	}
	if args = jsonBefore(args); len(args) == 0 {
		writeUsage(stderr)
		return exitMisuse
	}
	if c := findCommand(args[0]); c != nil {
		return c.exec(ctx, args[1:], stdio{stdin, stdout, stderr})
	}
	fmt.Fprintf(stderr, "utipc: no command %q; 'utipc -h' lists them\n", args[0])
	return exitMisuse
}

func (c *command) exec(ctx context.Context, args []string, std stdio) int {
	std, flush := std.text()
	defer flush()
	err := c.run(ctx, args, std)
	var misuse usageError
	var told status
	var settings settingsError
	var help helpError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &told):
		return int(told)
	case errors.As(err, &help) && help.usage != "":
		io.WriteString(std.out, help.usage)
		return exitDone
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(std.out, c.usage)
		return exitDone
	case errors.As(err, &settings):
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(std.err, "utipc %s: %s\n", c.name, line)
		}
		return exitMisuse
	case errors.As(err, &misuse):
		fmt.Fprintf(std.err, "utipc %s: %v; 'utipc %s -h' shows how\n", c.name, misuse, c.name)
		return exitMisuse
	}
	fmt.Fprintf(std.err, "utipc %s: %v\n", c.name, err)
	return exitFailed
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills, should the first not be heard
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
