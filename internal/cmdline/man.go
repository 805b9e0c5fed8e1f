// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

func (p *Program) manCommand() *Command {
	return &Command{
		Name:  "man",
		Short: "the manual page, for man(1)",
		Usage: strings.ReplaceAll(manUsage, "utipc", p.Name),
		Run: func(_ context.Context, args []string, std Stdio) error {
			rest, err := Parse(flag.NewFlagSet("man", flag.ContinueOnError), args, 0, 1)
			if err != nil {
				return err
			}
			all := p.describe()
			if len(rest) == 0 {
				_, err = io.WriteString(std.Out, p.manual(all))
				return err
			}
			for _, d := range all {
				if d.Name == rest[0] {
					_, err = io.WriteString(std.Out, p.manualOf(d))
					return err
				}
			}
			return UsageError(fmt.Sprintf("no command %q", rest[0]))
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
func (prog *Program) manual(all []description) string {
	var p page
	p.head(prog, prog.Name)
	p.section("NAME")
	p.text(prog.Name + " - " + prog.Short)
	p.section("SYNOPSIS")
	p.text(prog.Name + " COMMAND [ARGUMENTS]")
	p.section("DESCRIPTION")
	p.text(prog.Manual.Description)
	p.section("COMMANDS")
	for _, d := range all {
		p.raw(".SS " + roff(d.Name))
		m := &prog.Manual
		before, after, shared := d.Usage, "", false
		if m.Shared != "" {
			before, after, shared = strings.Cut(d.Usage, m.Shared)
		}
		p.usage(before)
		if shared {
			p.raw(".PP")
			p.text("The section " + m.SharedTitle + " below describes more flags.")
			p.usage(after)
		}
	}
	if m := &prog.Manual; m.Shared != "" {
		p.section(m.SharedTitle)
		p.text(m.SharedText)
		p.usage(m.Shared)
	}
	p.tail(prog)
	return p.String()
}

// manualOf is the page of one command.
func (prog *Program) manualOf(d description) string {
	var p page
	p.head(prog, prog.Name+"-"+d.Name)
	p.section("NAME")
	p.text(prog.Name + "-" + d.Name + " - " + d.Short)
	p.section("DESCRIPTION")
	p.usage(d.Usage)
	p.tail(prog)
	return p.String()
}

// A page is roff being written.
type page struct{ strings.Builder }

func (p *page) raw(line string) { p.WriteString(line + "\n") }

func (p *page) text(s string) { p.raw(roff(s)) }

func (p *page) section(name string) { p.raw(`.SH "` + name + `"`) }

func (p *page) head(prog *Program, name string) {
	p.raw(`.TH "` + strings.ToUpper(name) + `" "1" "" "` + prog.Name + `" "User Commands"`)
}

func (p *page) tail(prog *Program) {
	p.section("EXIT STATUS")
	p.text(prog.Manual.Status)
	if len(prog.Manual.Environment) > 0 {
		p.section("ENVIRONMENT")
	}
	for _, e := range prog.Manual.Environment {
		p.raw(".TP\n.B " + e[0])
		p.text(e[1])
	}
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
