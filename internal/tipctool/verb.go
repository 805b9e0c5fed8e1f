// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"fmt"
	"strings"
)

// A verb is a word of a command. It has either verbs that may follow, or a run.
type verb struct {
	name  string
	args  string // what follows a verb with a run, as usage texts show it
	short string // what it is for
	subs  []*verb
	run   func(c *call) error
}

// descend follows the words down the tree and runs the verb that is reached.
func (c *call) descend() error {
	for len(c.at.subs) > 0 {
		if len(c.rest) == 0 {
			return c.usage()
		}
		next := find(c.at.subs, c.rest[0])
		if next == nil && c.Help {
			return c.usage()
		}
		if next == nil {
			return said("invalid command %q\nuse --help for command help", c.rest[0])
		}
		c.at, c.rest = next, c.rest[1:]
		c.path = strings.TrimSpace(c.path + " " + next.name)
	}
	if c.Help {
		return c.usage()
	}
	return c.at.run(c)
}

// find returns the verb of a name, or the only one whose name begins so.
func find(all []*verb, word string) (found *verb) {
	for _, v := range all {
		switch {
		case v.name == word:
			return v
		case word == "" || !strings.HasPrefix(v.name, word):
		case found == nil:
			found = v
		default:
			return nil
		}
	}
	return found
}

// A usage is what a verb's usage text says, as an error.
type usage struct{ text string }

func (usage) Error() string { return "usage" }

// usageBehind is what is wrong, and the usage text behind it.
func (c *call) usageBehind(err error) error {
	u := c.usage().(usage)
	return usage{Answer(err) + u.text}
}

func (c *call) usage() error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s [-j [-p]] %s\n", c.Name, strings.TrimSpace(c.path+" "+c.at.form()))
	if c.at.short != "" {
		fmt.Fprintf(&b, "\n%s.\n", strings.ToUpper(c.at.short[:1])+c.at.short[1:])
	}
	if len(c.at.subs) > 0 {
		b.WriteString("\n")
		forms(&b, c.Name+" "+c.path, c.at, 4)
	}
	return usage{b.String()}
}

func (v *verb) form() string {
	if len(v.subs) > 0 {
		return "COMMAND …"
	}
	return v.args
}

// forms writes a line for each command that begins with path, and what it does.
func forms(b *strings.Builder, path string, v *verb, indent int) {
	for _, s := range v.subs {
		if len(s.subs) > 0 {
			forms(b, strings.TrimSpace(path)+" "+s.name, s, indent)
			continue
		}
		line := strings.TrimSpace(strings.TrimSpace(path) + " " + s.name + " " + s.args)
		const column = 56
		if len(line) >= column {
			fmt.Fprintf(b, "%*s%s\n%*s%s\n", indent, "", line, indent+column, "", s.short)
		} else {
			fmt.Fprintf(b, "%*s%-*s%s\n", indent, "", column, line, s.short)
		}
	}
}

// Nouns are the words that a command may begin with.
func Nouns() (names []string) {
	for _, v := range root.subs {
		names = append(names, v.name)
	}
	return names
}

// Short says what a noun is for.
func Short(noun string) string { return find(root.subs, noun).short }

// Commands lists the commands of a noun, a line each, with what they do.
func Commands(program, noun string) string {
	var b strings.Builder
	forms(&b, program+" "+noun, find(root.subs, noun), 4)
	return b.String()
}

// Words returns what may stand behind a noun, a line for each command.
func Words(noun string) (lines []string) {
	var walk func(path string, v *verb)
	walk = func(path string, v *verb) {
		if len(v.subs) == 0 {
			lines = append(lines, strings.TrimSpace(path+" "+v.args))
		}
		for _, s := range v.subs {
			walk(strings.TrimSpace(path+" "+s.name), s)
		}
	}
	walk("", find(root.subs, noun))
	return lines
}

// root is the verb of no words. init makes it, as runs look into it.
var root verb

func init() {
	root.subs = []*verb{&bearerVerb, &linkVerb, &mediaVerb, &nametableVerb, &nodeVerb, &peerVerb, &socketVerb}
}
