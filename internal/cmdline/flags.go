// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"flag"
	"io"
	"strings"
	"time"
)

// Flags are the flags of a command: a flag.FlagSet that knows how its flags are written,
// and in which order they were declared. The help, the manual page and the completion are
// made of it.
//
// A flag is declared by its head, which is how the help writes it without dashes: its name
// and that of its value, "if IFACE". A flag that has two names has a comma between them,
// "j, json". The name of the value says how a shell completes it: IFACE by interfaces,
// what has FILE, PATH or DIR in it by files, and words with bars between them by these.
//
// The default is part of the help where it is not the zero value. The other methods are
// those of flag.FlagSet.
type Flags struct {
	*flag.FlagSet
	items   []item
	section string
}

// An item is a part of the help on flags: a flag, or text between flags.
type item struct {
	section string
	names   []string
	value   string // the name of its value; empty: it takes none
	flag    *flag.Flag
	text    string // in place of a flag
}

// NewFlags makes the flags of a command, which has none yet.
func NewFlags(name string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	return f
}

// Section begins a section of flags that several commands have. The manual page of the
// program has it once, with this title.
func (f *Flags) Section(title string) { f.section = title }

// Text adds a paragraph between the flags, whose lines are as they are.
func (f *Flags) Text(text string) {
	f.items = append(f.items, item{section: f.section, text: text})
}

// add declares a flag by all of its names.
func (f *Flags) add(head string, declare func(name string)) {
	rest := head
	i := item{section: f.section}
	for {
		name, more, ok := strings.Cut(rest, ", ")
		if !ok {
			break
		}
		i.names, rest = append(i.names, name), more
	}
	name, value, _ := strings.Cut(rest, " ")
	i.names, i.value = append(i.names, name), value
	for _, name := range i.names {
		declare(name)
	}
	i.flag = f.Lookup(name)
	f.items = append(f.items, i)
}

func (f *Flags) BoolVar(p *bool, head string, value bool, usage string) {
	f.add(head, func(name string) { f.FlagSet.BoolVar(p, name, value, usage) })
}

func (f *Flags) Bool(head string, value bool, usage string) *bool {
	p := new(bool)
	f.BoolVar(p, head, value, usage)
	return p
}

func (f *Flags) StringVar(p *string, head, value, usage string) {
	f.add(head, func(name string) { f.FlagSet.StringVar(p, name, value, usage) })
}

func (f *Flags) String(head, value, usage string) *string {
	p := new(string)
	f.StringVar(p, head, value, usage)
	return p
}

func (f *Flags) IntVar(p *int, head string, value int, usage string) {
	f.add(head, func(name string) { f.FlagSet.IntVar(p, name, value, usage) })
}

func (f *Flags) Int(head string, value int, usage string) *int {
	p := new(int)
	f.IntVar(p, head, value, usage)
	return p
}

func (f *Flags) UintVar(p *uint, head string, value uint, usage string) {
	f.add(head, func(name string) { f.FlagSet.UintVar(p, name, value, usage) })
}

func (f *Flags) Uint64(head string, value uint64, usage string) *uint64 {
	p := new(uint64)
	f.add(head, func(name string) { f.FlagSet.Uint64Var(p, name, value, usage) })
	return p
}

func (f *Flags) Float64(head string, value float64, usage string) *float64 {
	p := new(float64)
	f.add(head, func(name string) { f.FlagSet.Float64Var(p, name, value, usage) })
	return p
}

func (f *Flags) DurationVar(p *time.Duration, head string, value time.Duration, usage string) {
	f.add(head, func(name string) { f.FlagSet.DurationVar(p, name, value, usage) })
}

func (f *Flags) Duration(head string, value time.Duration, usage string) *time.Duration {
	p := new(time.Duration)
	f.DurationVar(p, head, value, usage)
	return p
}

func (f *Flags) Func(head, usage string, fn func(string) error) {
	f.add(head, func(name string) { f.FlagSet.Func(name, usage, fn) })
}

func (f *Flags) Var(value flag.Value, head, usage string) {
	f.add(head, func(name string) { f.FlagSet.Var(value, name, usage) })
}

// dashed is a name as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// head is how the flag is written.
func (i *item) head() string {
	var all []string
	for _, n := range i.names {
		all = append(all, dashed(n))
	}
	head := strings.Join(all, ", ")
	if i.value != "" {
		head += " " + i.value
	}
	return head
}

// about is what the flag does, and its default.
func (i *item) about() string {
	if d := defaultOf(i.flag); d != "" {
		return i.flag.Usage + " (default " + d + ")"
	}
	return i.flag.Usage
}

// defaultOf is the default of a flag as the help has it. It is empty for the zero values of
// package flag's own types, and for negative ones, which mean that the flag is not given.
func defaultOf(f *flag.Flag) string {
	if strings.HasPrefix(f.DefValue, "-") {
		return ""
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return f.DefValue
	}
	switch g.Get().(type) {
	case time.Duration:
		d := f.DefValue
		if strings.HasSuffix(d, "m0s") {
			d = strings.TrimSuffix(d, "0s")
		}
		if strings.HasSuffix(d, "h0m") {
			d = strings.TrimSuffix(d, "0m")
		}
		if d == "0s" {
			return ""
		}
		return d
	case bool:
		if f.DefValue == "false" {
			return ""
		}
	case int, uint, uint64, float64:
		if f.DefValue == "0" {
			return ""
		}
	}
	return f.DefValue
}
