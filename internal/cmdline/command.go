// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The exit status of a program.
const (
	Done   = 0
	Failed = 1
	Misuse = 2
)

// A Command is one of the commands of a program.
type Command struct {
	Name  string
	Short string // what it does, for the list of commands; empty: it is not listed
	// Usage is what -h prints, with an example that works. The flags are described in
	// place of the line {flags}.
	Usage string
	// Words are the words that can follow the name, a line for each sequence, with bars
	// between alternatives: "get priority|tolerance|window". The completion offers them.
	Words []string
	// Commands are the command's own commands, one of which follows its name.
	Commands []*Command
	// First gives the command precedence where a name is shortened.
	First bool
	// Run does the work; a command that has Commands has no Run. It declares its flags and
	// calls Parse before all else, so that its flags can be had by running it with -h.
	// A UsageError means that the arguments are wrong; the error of ctx means that the
	// command was interrupted; a Status is already reported.
	Run func(ctx context.Context, args []string, std Stdio) error
}

// A Stdio is the input and the outputs of a command.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// A UsageError says what is wrong with the arguments of a command.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// A Status is an error that is already reported, and the status to exit with.
type Status int

func (s Status) Error() string { return fmt.Sprintf("status %d", int(s)) }

// A HelpError is flag.ErrHelp of a command that has these flags.
type HelpError struct{ Flags *Flags }

func (HelpError) Error() string { return flag.ErrHelp.Error() }
func (HelpError) Unwrap() error { return flag.ErrHelp }

// Parse reads the flags of a command and returns the arguments that follow them, which
// must number at least least and at most most; most < 0 means any number.
// Errors: a HelpError for -h; a UsageError.
func Parse(f *Flags, args []string, least, most int) ([]string, error) {
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, HelpError{f}
		}
		return nil, UsageError(err.Error())
	}
	switch n := f.NArg(); {
	case most < 0 && n > 1 && slices.ContainsFunc(f.Args()[1:], func(a string) bool { return strings.HasPrefix(a, "--") }):
		return nil, UsageError("flags stand before the arguments")
	case n < least:
		return nil, UsageError("too few arguments")
	case most >= 0 && n > most && strings.HasPrefix(f.Arg(most), "-"):
		return nil, UsageError("flags stand before the arguments")
	case most >= 0 && n > most:
		return nil, UsageError("too many arguments")
	}
	return f.Args(), nil
}

// IsBool reports whether a flag takes no value.
func IsBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// flags are those of the command itself.
func (c *Command) flags() *Flags {
	if c.Run == nil {
		return NewFlags(c.Name)
	}
	var h HelpError
	if errors.As(c.Run(context.Background(), []string{"-h"}, Stdio{nil, io.Discard, io.Discard}), &h) {
		return h.Flags
	}
	return NewFlags(c.Name)
}

// Listed are the commands of a list that are not hidden.
func Listed(all []*Command) (listed []*Command) {
	for _, c := range all {
		if c.Short != "" {
			listed = append(listed, c)
		}
	}
	return listed
}
