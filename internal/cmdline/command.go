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
	"time"

	"github.com/utipc/utipc/internal/nearest"
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
		return nil, UsageError(f.explain(err))
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

// explain says what is wrong with the flags: package flag has no error types, and writes every
// flag with one dash.
func (f *Flags) explain(err error) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var all []string
		f.VisitAll(func(x *flag.Flag) { all = append(all, dashed(x.Name)) })
		return fmt.Sprintf("no flag %s%s", dashed(name), nearest.Hint(dashed(name), all))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Sprintf("%s wants a value%s", dashed(name), f.wants(name))
	}
	value, rest, ok := strings.Cut(text, " for flag -")
	if !ok {
		value, rest, ok = strings.Cut(text, " for -") // of a flag that takes no value
	}
	name, why, also := strings.Cut(rest, ": ")
	_, value, quoted := strings.Cut(value, `"`)
	switch {
	case !ok || !also || !quoted:
		return text
	case why == "parse error" || strings.HasPrefix(why, "strconv."):
		return fmt.Sprintf(`%s cannot be "%s%s`, dashed(name), value, f.wants(name))
	case why == "value out of range":
		return fmt.Sprintf(`%s cannot be "%s: out of range`, dashed(name), value)
	}
	return fmt.Sprintf(`%s "%s: %s`, dashed(name), value, why)
}

// wants says what the value of a flag is, for the end of a message.
func (f *Flags) wants(name string) string {
	for i := range f.items {
		it := &f.items[i]
		if it.flag == nil || !slices.Contains(it.names, name) || it.value == "" {
			continue
		}
		if g, ok := it.flag.Value.(flag.Getter); ok {
			switch g.Get().(type) {
			case int, uint, uint64:
				return " (want a whole number)"
			case float64:
				return " (want a number)"
			case time.Duration:
				return " (want a time with its unit, as 500ms or 2s)"
			}
		}
		return " (want " + it.value + ")"
	}
	return ""
}

// names are those of commands that are not hidden.
func names(all []*Command) (list []string) {
	for _, c := range Listed(all) {
		list = append(list, c.Name)
	}
	return list
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
