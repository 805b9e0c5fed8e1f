// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

func (p *Program) manCommand() *Command {
	return &Command{
		Name:  "man",
		Short: "the manual page, for man(1)",
		Usage: strings.ReplaceAll(manUsage, "utipc", p.Name),
		Run: func(_ context.Context, args []string, std Stdio) error {
			rest, err := Parse(NewFlags("man"), args, 0, 1)
			if err != nil {
				return err
			}
			if len(rest) == 0 {
				_, err = io.WriteString(std.Out, p.manual())
				return err
			}
			for _, c := range p.Commands {
				if c.Name == rest[0] {
					_, err = io.WriteString(std.Out, p.manualOf(c))
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
func (p *Program) manual() string {
	var out page
	out.head(p, p.Name)
	out.section("NAME")
	out.text(p.Name + " - " + p.Short)
	out.section("SYNOPSIS")
	out.text(p.Name + " COMMAND [ARGUMENTS]")
	out.section("DESCRIPTION")
	out.text(p.Manual.Description)
	out.section("COMMANDS")
	var later sections
	for _, c := range p.Commands {
		out.command(c.Name, c, &later)
	}
	out.sections(&later)
	out.tail(p)
	return out.String()
}

// manualOf is the page of one command.
func (p *Program) manualOf(c *Command) string {
	var out page
	out.head(p, p.Name+"-"+c.Name)
	out.section("NAME")
	out.text(p.Name + "-" + c.Name + " - " + c.Short)
	out.section("DESCRIPTION")
	var later sections
	out.command("", c, &later)
	out.sections(&later)
	out.tail(p)
	return out.String()
}

// Sections are the flags that several commands have, by the titles of their sections.
type sections struct {
	titles []string
	items  map[string][]item
}

// add takes the items of a section, each flag once.
func (s *sections) add(items []item) {
	title := items[0].section
	if s.items == nil {
		s.items = map[string][]item{}
	}
	if s.items[title] == nil {
		s.titles = append(s.titles, title)
	}
	for _, i := range items {
		if !slices.ContainsFunc(s.items[title], func(x item) bool { return x.text == i.text && slices.Equal(x.names, i.names) }) {
			s.items[title] = append(s.items[title], i)
		}
	}
}

func (p *page) sections(s *sections) {
	for _, title := range s.titles {
		p.section(title)
		p.flags(s.items[title])
	}
}

// command writes what -h prints of a command and of its own commands. Flags of a section
// go to later.
func (p *page) command(title string, c *Command, later *sections) {
	if title != "" {
		p.raw(".SS " + roff(title))
	}
	before, after, here := strings.Cut(c.Usage, flagsHere)
	p.usage(before)
	if here {
		for items := c.flags().items; len(items) > 0; {
			n := 1
			for n < len(items) && items[n].section == items[0].section {
				n++
			}
			if items[0].section == "" {
				p.flags(items[:n])
			} else {
				p.raw(".PP")
				p.text("The section " + items[0].section + " below describes more flags.")
				later.add(items[:n])
			}
			items = items[n:]
		}
	}
	p.usage(after)
	for _, sub := range Listed(c.Commands) {
		p.command(c.Name+" "+sub.Name, sub, later)
	}
}

// flags writes flags as tagged paragraphs.
func (p *page) flags(items []item) {
	for _, i := range items {
		if i.flag == nil {
			p.usage(i.text)
			continue
		}
		p.raw(".TP 17\n.B " + roff(i.head()))
		p.text(i.about())
	}
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
		alone := indent <= 4 && i+1 < len(lines) && indentOf(lines[i+1]) > 8 // explained below
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
