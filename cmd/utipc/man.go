// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

func manCommand() *command {
	return &command{
		name:  "man",
		short: "the manual page, for man(1)",
		usage: manUsage,
		run: func(_ context.Context, args []string, std stdio) error {
			rest, err := parse(flag.NewFlagSet("man", flag.ContinueOnError), args, 0, 1)
			if err != nil {
				return err
			}
			all := describe()
			if len(rest) == 0 {
				_, err = io.WriteString(std.out, manual(all))
				return err
			}
			for _, d := range all {
				if d.name == rest[0] {
					_, err = io.WriteString(std.out, manualOf(d))
					return err
				}
			}
			return usageError(fmt.Sprintf("no command %q", rest[0]))
		},
	}
}

const manUsage = `utipc man: the manual page, for man(1).

    utipc man [COMMAND]

It prints the page of the whole program, or of one command, as roff.

    utipc man > /usr/local/share/man/man1/utipc.1
    utipc man ping | man -l -
`

// manual is the page of the program.
func manual(all []description) string {
	var p page
	p.head("UTIPC")
	p.section("NAME")
	p.text(`utipc - TIPC in user space`)
	p.section("SYNOPSIS")
	p.text("utipc COMMAND [ARGUMENTS]")
	p.section("DESCRIPTION")
	p.text("utipc speaks TIPC, the cluster protocol, from user space. Its commands work on a node: that of this host's daemon, or one of their own. Data goes to the standard output, all else to the standard error.")
	p.section("COMMANDS")
	for _, d := range all {
		p.raw(".SS " + roff(d.name))
		before, after, shared := strings.Cut(d.usage, hostUsage)
		p.usage(before)
		if shared {
			p.raw(".PP")
			p.text("The flags of the node stand in a section of their own below.")
			p.usage(after)
		}
	}
	p.section("NODE FLAGS")
	p.text("Every command that works on a node takes these.")
	p.usage(hostUsage)
	p.tail()
	return p.String()
}

// manualOf is the page of one command.
func manualOf(d description) string {
	var p page
	p.head("UTIPC-" + strings.ToUpper(d.name))
	p.section("NAME")
	p.text("utipc-" + d.name + " - " + d.short)
	p.section("DESCRIPTION")
	p.usage(d.usage)
	p.tail()
	return p.String()
}

// A page is roff being written.
type page struct{ strings.Builder }

func (p *page) raw(line string) { p.WriteString(line + "\n") }

func (p *page) text(s string) { p.raw(roff(s)) }

func (p *page) section(name string) { p.raw(`.SH "` + name + `"`) }

func (p *page) head(name string) { p.raw(`.TH "` + name + `" "1" "" "utipc" "User Commands"`) }

func (p *page) tail() {
	p.section("EXIT STATUS")
	p.text("0 when done, 1 when it failed, 2 when it was misused; of the words of tipc(8) 255 when they failed.")
	p.section("ENVIRONMENT")
	p.raw(".TP\n.B UTIPC_SOCKET")
	p.text("where the daemon's socket is, if not at " + defaultSocket)
}

// taggedLine is a line that explains what stands in front of two spaces or more.
var taggedLine = regexp.MustCompile(`^( {0,4})(\S+(?: \S+)*) {2,}(\S.*)$`)

// usage writes a text of -h. Lines that explain something become tagged paragraphs,
// indented ones examples, which stay as they are; the others are filled.
func (p *page) usage(text string) {
	const (
		none = iota
		filled
		tagged
		literal
	)
	state, begun := none, false
	paragraph := func(then string) {
		if begun { // a section begins with one
			p.raw(".PP")
		}
		p.WriteString(then)
	}
	become := func(next int) {
		if state == literal && next != literal {
			p.raw(".fi\n.RE")
		}
		if next == literal && state != literal {
			paragraph(".RS 4\n.nf\n")
		}
		if next == filled && state != filled {
			paragraph("")
		}
		state, begun = next, true
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		tag := taggedLine.FindStringSubmatch(line)
		if tag != nil && strings.HasPrefix(tag[3], "#") {
			tag = nil // an example with a remark
		}
		indent := indentOf(line)
		alone := indent <= 4 && (flagHead.MatchString(line) || i+1 < len(lines) && indentOf(lines[i+1]) > 8) // explained below
		switch {
		case line == "":
			if state != tagged {
				become(none)
			}
		case state == tagged && indent >= 6:
			p.text(strings.TrimSpace(line))
		case tag != nil:
			become(tagged)
			p.raw(".TP 17\n.B " + roff(tag[2]))
			p.text(tag[3])
		case alone:
			become(tagged)
			p.raw(".TP 17\n.B " + roff(strings.TrimSpace(line)))
		case indent >= 4:
			become(literal)
			p.text(line[4:])
		default:
			become(filled)
			p.text(line)
		}
	}
	become(none)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// roff is text that no character of steers the formatter.
func roff(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\'':
			b.WriteString(`\(aq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
