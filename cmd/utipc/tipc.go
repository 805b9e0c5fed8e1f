// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/tipctool"
	"github.com/utipc/utipc/stack"
)

// toolCommand is one of the words that tipc(8) has, too.
func toolCommand(noun, example string) *cmdline.Command {
	return &cmdline.Command{
		Name:  noun,
		First: true,
		Short: tipctool.Short(noun),
		Words: tipctool.Words(noun),
		Usage: "utipc " + noun + ": " + tipctool.Short(noun) + `, in the words of tipc(8).

    utipc ` + noun + ` COMMAND [FLAGS]

` + tipctool.Commands("utipc", noun) + toolUsage + `
    ` + example + `
    utipc -j ` + strings.TrimPrefix(example, "utipc ") + `
`,
		Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
			return runTool(ctx, noun, args, std)
		},
	}
}

const toolUsage = `
Words may be shortened as long as one is meant. What tipc(8) prints is printed alike,
and more in lines of its own below. The status is 0, or 255 for whatever went wrong.

{flags}
`

// runTool reads the flags, which may stand anywhere, and carries out the rest.
func runTool(ctx context.Context, noun string, args []string, std cmdline.Stdio) error {
	f := cmdline.NewFlags(noun)
	var h nodeFlags
	t := tipctool.Tool{Name: "utipc", In: std.In, Out: std.Out, Err: std.Err}
	f.BoolVar(&t.JSON, "j, json", false, "print JSON; may stand before the command")
	f.BoolVar(&t.Pretty, "p, pretty", false, "in lines, instead of one line; with -j")
	f.BoolVar(&t.Verbose, "v", false, "lists say more: of bearers how they stand, since when and why; of sockets whose they are")
	f.BoolVar(&t.Help, "h, help", false, "what the words before it mean")
	wait := f.Duration("wait D", 3*time.Second, "with --if and --udp: how long to wait at most until all nodes that are heard are in contact")
	h.flags(f)
	flags, words := parted(f, args)
	if _, err := cmdline.Parse(f, flags, 0, 0); err != nil {
		return err
	}
	if t.Help && len(words) == 0 {
		return cmdline.HelpError{Flags: f}
	}
	if *wait < 0 {
		return cmdline.UsageError("--wait is negative")
	}
	if err := h.check(); err != nil {
		return err
	}
	var done func() error
	t.Node = func(ctx context.Context) (*stack.Node, error) {
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return nil, err
		}
		done = func() error { return closeNode(n, finish) }
		if h.embedded() && *wait > 0 {
			(&auditor{wait: *wait}).meet(ctx, n) // whom it does not meet is seen in the lists
		}
		return n, ctx.Err()
	}
	code := t.Run(ctx, append([]string{noun}, words...))
	if done != nil {
		if err := done(); err != nil && code == tipctool.Done {
			return err
		}
	}
	if code != tipctool.Done {
		return cmdline.Status(code)
	}
	return nil
}

// parted takes flags, with their values, from among the words. Behind "node set key" the
// flag --keyfile is the word keyfile: it says which key to set, not the node's own.
func parted(f *cmdline.Flags, args []string) (flags, words []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return flags, append(words, args[i+1:]...)
		case len(a) < 2 || a[0] != '-':
			words = append(words, a)
			continue
		case f.Name() == "node" && len(words) >= 2 && strings.HasPrefix(a, "--keyfile"):
			words = append(words, "keyfile")
			if _, file, ok := strings.Cut(a, "="); ok {
				words = append(words, file)
			}
			continue
		case a[1] != '-' && strings.Trim(a[1:], "jph") == "": // -jp
			for _, c := range a[1:] {
				flags = append(flags, "-"+string(c))
			}
			continue
		}
		flags = append(flags, a)
		name, _, valued := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if x := f.Lookup(name); x == nil || valued || cmdline.IsBool(x) || i+1 == len(args) {
			continue
		}
		i++
		flags = append(flags, args[i])
	}
	return flags, words
}

// jsonBefore moves -j, --json, -p and --pretty from before the command behind it, and
// returns nil if there is none.
func jsonBefore(args []string) []string {
	var moved []string
	for len(args) > 0 {
		switch a := args[0]; {
		case a == "--json" || a == "--pretty":
			moved = append(moved, a)
		case len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "jp") == "":
			for _, c := range a[1:] {
				moved = append(moved, map[rune]string{'j': "--json", 'p': "--pretty"}[c])
			}
		default:
			return slices.Concat(args[:1], moved, args[1:])
		}
		args = args[1:]
	}
	return nil // there is no command
}
