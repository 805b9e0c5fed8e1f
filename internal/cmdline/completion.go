// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

func (p *Program) completionCommand() *Command {
	return &Command{
		Name:  "completion",
		Short: "completion of commands, words and flags, for a shell",
		Usage: strings.ReplaceAll(completionUsage, "utipc", p.Name),
		Words: []string{"bash|zsh|fish"},
		Run: func(_ context.Context, args []string, std Stdio) error {
			rest, err := Parse(NewFlags("completion"), args, 1, 1)
			if err != nil {
				return err
			}
			scripts := map[string]func(*completion) string{"bash": (*completion).bash, "zsh": (*completion).zsh, "fish": (*completion).fish}
			script := scripts[rest[0]]
			if script == nil {
				return UsageError(fmt.Sprintf("%q is not bash, zsh or fish", rest[0]))
			}
			_, err = io.WriteString(std.Out, script(newCompletion(p)))
			return err
		},
	}
}

const completionUsage = `utipc completion: completion of commands, words and flags, for a shell.

    utipc completion bash|zsh|fish

It prints a script for the shell. The places for them:

    utipc completion bash > /usr/share/bash-completion/completions/utipc
    utipc completion zsh > /usr/local/share/zsh/site-functions/_utipc
    utipc completion fish > ~/.config/fish/completions/utipc.fish
`

// A completion is the words of all commands as a machine: each word leads from one state
// to the next. State 0 is before the command.
type completion struct {
	named func(string) string // puts the program's name for utipc into a part of a script
	all   []description
	next  [][]string       // by state: the words that may follow
	steps []completionStep // in the order in which they are to be tried
}

// A completionStep leads to state to. An empty word is any.
type completionStep struct {
	from int
	word string
	to   int
}

func newCompletion(p *Program) *completion {
	name := strings.NewReplacer("_utipc", "_"+strings.ReplaceAll(p.Name, "-", "_"), "utipc", p.Name)
	c := &completion{named: name.Replace, all: p.describe(), next: make([][]string, 1)}
	for _, d := range c.all {
		at := c.step(0, d.Name)
		for _, way := range d.ways {
			state := at
			for _, w := range way {
				state = c.step(state, w)
			}
		}
	}
	// Words before what stands for any.
	slices.SortStableFunc(c.steps, func(a, b completionStep) int {
		return strings.Compare(boolKey(a.word == ""), boolKey(b.word == ""))
	})
	return c
}

func boolKey(b bool) string { return map[bool]string{true: "b", false: "a"}[b] }

// step is the state that a word leads to.
func (c *completion) step(from int, word string) (to int) {
	key := word
	if placeholder(word) {
		key = ""
	} else if !slices.Contains(c.next[from], word) {
		c.next[from] = append(c.next[from], word)
	}
	for _, s := range c.steps {
		if s.from == from && s.word == key {
			return s.to
		}
	}
	c.next = append(c.next, nil)
	to = len(c.next) - 1
	c.steps = append(c.steps, completionStep{from, key, to})
	return to
}

// valueKind says how a flag's value is completed: from words, interfaces, files or not.
func (i *item) valueKind() (kind, words string) {
	switch {
	case IsBool(i.flag):
		return "bare", ""
	case strings.Contains(i.value, "|") && i.value == strings.ToLower(i.value):
		return "words", strings.ReplaceAll(i.value, "|", " ")
	case strings.HasPrefix(i.value, "IFACE"):
		return "if", ""
	case strings.Contains(i.value, "FILE") || strings.Contains(i.value, "PATH") || strings.Contains(i.value, "DIR"):
		return "files", ""
	}
	return "none", ""
}

// kinds groups all commands' flags by how their values are completed. Of flags that
// differ from command to command the first counts.
func (c *completion) kinds() (names []string, kind, words map[string]string) {
	kind, words = map[string]string{}, map[string]string{}
	for _, d := range c.all {
		for _, f := range d.flags {
			for _, n := range f.names {
				if n = dashed(n); kind[n] == "" {
					kind[n], words[n] = f.valueKind()
					names = append(names, n)
				}
			}
		}
	}
	slices.Sort(names)
	return names, kind, words
}

func (d description) flagNames() string {
	names := []string{"-h"}
	for _, f := range d.flags {
		for _, n := range f.names {
			if n != "h" {
				names = append(names, dashed(n))
			}
		}
	}
	return strings.Join(names, " ")
}

// bash is the script for bash. It needs no other.
func (c *completion) bash() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, c.named(format)+"\n", args...) }
	p("# bash completion of utipc; made by 'utipc completion bash'")
	p("_utipc_step() { # state word: the next state")
	p("\tcase \"$1 $2\" in")
	for _, s := range c.steps {
		if s.word == "" {
			p("\t'%d '*) REPLY=%d ;;", s.from, s.to)
		} else {
			p("\t'%d %s') REPLY=%d ;;", s.from, s.word, s.to)
		}
	}
	p("\t*) REPLY=-1 ;;\n\tesac\n}")
	p("_utipc_next() { # state: the words that may follow")
	p("\tcase $1 in")
	for i, words := range c.next {
		if len(words) > 0 {
			p("\t%d) REPLY='%s' ;;", i, strings.Join(words, " "))
		}
	}
	p("\t*) REPLY= ;;\n\tesac\n}")
	p("_utipc_flags() { # command: its flags")
	p("\tcase $1 in")
	for _, d := range c.all {
		p("\t%s) REPLY='%s' ;;", d.Name, d.flagNames())
	}
	p("\t*) REPLY=-h ;;\n\tesac\n}")
	p("_utipc_value() { # flag: how its value is completed, and the words for it")
	p("\tcase $1 in")
	names, kind, words := c.kinds()
	for _, n := range names {
		p("\t%s) REPLY='%s' WORDS='%s' ;;", n, kind[n], words[n])
	}
	p("\t*) REPLY=bare WORDS= ;;\n\tesac\n}")
	b.WriteString(c.named(`_utipc() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i=1 state=0 word REPLY WORDS
	COMPREPLY=()
	while [ "$i" -lt "$COMP_CWORD" ]; do
		word=${COMP_WORDS[i]}
		case $word in
		-*)
			_utipc_value "$word"
			[ "$REPLY" = bare ] || i=$((i + 1))
			;;
		*)
			_utipc_step "$state" "$word"
			state=$REPLY
			;;
		esac
		i=$((i + 1))
	done
	if [ "$i" -gt "$COMP_CWORD" ]; then
		_utipc_value "$prev"
		case $REPLY in
		words) COMPREPLY=($(compgen -W "$WORDS" -- "$cur")) ;;
		if) COMPREPLY=($(compgen -W "$(ls /sys/class/net 2>/dev/null)" -- "$cur")) ;;
		files) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		return
	fi
	case $cur in
	-*)
		_utipc_flags "${COMP_WORDS[1]}"
		COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
		;;
	*)
		_utipc_next "$state"
		COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
		[ -n "$REPLY" ] || COMPREPLY=($(compgen -f -- "$cur"))
		;;
	esac
}
complete -F _utipc utipc
`))
	return b.String()
}

// zsh is the script for zsh, which runs bash's.
func (c *completion) zsh() string {
	return c.named("#compdef utipc\nautoload -U +X bashcompinit && bashcompinit\n") + c.bash() + c.named("_bash_complete -F _utipc\n")
}

// fish is the script for fish.
func (c *completion) fish() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, c.named(format)+"\n", args...) }
	p("# fish completion of utipc; made by 'utipc completion fish'")
	p("function __utipc_step # state word: the next state")
	p("\tswitch \"$argv[1] $argv[2]\"")
	for _, s := range c.steps {
		if s.word == "" {
			p("\tcase '%d *'; echo %d", s.from, s.to)
		} else {
			p("\tcase '%d %s'; echo %d", s.from, s.word, s.to)
		}
	}
	p("\tcase '*'; echo -- -1\n\tend\nend")
	names, kind, words := c.kinds()
	var bare []string
	for _, n := range names {
		if kind[n] == "bare" {
			bare = append(bare, n)
		}
	}
	p("function __utipc_state # of the words before the one that is completed")
	p("\tset -l state 0\n\tset -l skip 0\n\tfor word in (commandline -opc)[2..-1]")
	p("\t\tif test $skip = 1; set skip 0; continue; end")
	p("\t\tswitch $word\n\t\tcase -h %s\n\t\tcase '-*'; set skip 1\n\t\tcase '*'; set state (__utipc_step $state $word)\n\t\tend\n\tend\n\techo -- $state\nend", strings.Join(bare, " "))
	p("complete -c utipc -f")
	for i, next := range c.next {
		if i == 0 {
			for _, d := range c.all {
				p("complete -c utipc -n 'test (__utipc_state) = 0' -a %s -d %s", d.Name, fishQuote(d.Short))
			}
		} else if len(next) > 0 {
			p("complete -c utipc -n 'test (__utipc_state) = %d' -a '%s'", i, strings.Join(next, " "))
		}
	}
	for _, d := range c.all {
		for _, f := range d.flags {
			var option string
			for _, n := range f.names {
				if len(n) == 1 {
					option += "-s " + n + " "
				} else {
					option += "-l " + n + " "
				}
			}
			option = strings.TrimSpace(option)
			switch kind[dashed(f.names[0])] {
			case "words":
				option += " -x -a '" + words[dashed(f.names[0])] + "'"
			case "if":
				option += " -x -a '(ls /sys/class/net)'"
			case "files":
				option += " -r -F"
			case "none":
				option += " -x"
			}
			p("complete -c utipc -n '__fish_seen_subcommand_from %s' %s -d %s", d.Name, option, fishQuote(firstWords(f.about(), 60)))
		}
	}
	return b.String()
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// firstWords is s, cut between words so that at most so many characters stay.
func firstWords(s string, most int) string {
	if len([]rune(s)) <= most {
		return s
	}
	cut := string([]rune(s)[:most])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return cut + " …"
}
