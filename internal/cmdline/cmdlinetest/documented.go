// SPDX-License-Identifier: Apache-2.0

package cmdlinetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// Documented checks that the program has every command, and every flag of it, that the documents of the tree at root
// show in a block, as a reader would copy it; values of flags have to be such as the flag takes. It returns how many commands it has
// found.
func Documented(t *testing.T, p *cmdline.Program, root string) (found int) {
	t.Helper()
	check := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range shownLines(string(text)) {
			for _, args := range calls(p.Name, l) {
				found++
				if err := understood(p, args); err != nil {
					t.Errorf("%s: %s: %v", strings.TrimPrefix(path, root), strings.TrimSpace(l), err)
				}
			}
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		check(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			check(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// prompt is what may stand before a command.
var prompt = regexp.MustCompile(`^[a-z0-9]*[$#] `)

// shownLines are the lines of Markdown that are in blocks of code: indented, or fenced without a language or with that of
// a shell.
func shownLines(text string) (shown []string) {
	fenced, shell := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if lang, is := strings.CutPrefix(strings.TrimSpace(line), "```"); is {
			fenced, shell = !fenced, slices.Contains([]string{"", "sh", "bash", "console"}, lang)
			continue
		}
		code, indented := strings.CutPrefix(line, "    ")
		if fenced {
			code = line
		}
		if fenced && shell || !fenced && indented {
			shown = append(shown, prompt.ReplaceAllString(strings.TrimSpace(code), ""))
		}
	}
	return shown
}

// shellWord is a word of a shell, in quotes or not, or what parts commands.
var shellWord = regexp.MustCompile(`"[^"]*"|'[^']*'|\|\||&&|[|;&()]|[^\s"'|;&()]+`)

// calls are the arguments of each call of a program in a line for a shell. What is after a number sign is a comment.
func calls(program, line string) (all [][]string) {
	line, _, _ = strings.Cut(" "+line, " #")
	var words []string
	end := func() {
		if args, ok := call(program, words); ok {
			all = append(all, args)
		}
		words = nil
	}
	for _, w := range shellWord.FindAllString(line, -1) {
		if strings.Trim(w, "|;&()") == "" {
			end()
			continue
		}
		words = append(words, strings.Trim(w, `"'`))
	}
	end()
	return all
}

var (
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	redirected = regexp.MustCompile(`^[0-9]?[<>]`)
)

// call returns the arguments of the program if a simple command runs it, itself or by a command that runs others.
func call(program string, words []string) (args []string, ok bool) {
	for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains([]string{"sudo", "time", "exec", "timeout"}, words[0])) {
		words = words[1:]
	}
	if i := slices.IndexFunc(words, func(w string) bool { return redirected.MatchString(w) }); i >= 0 {
		words = words[:i]
	}
	if len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/"+program {
		return words[3:], len(words) > 3
	}
	if len(words) > 1 && (words[0] == "docker" && words[1] == "run" || slices.Contains([]string{"kubectl", "nsenter", "ip", "unshare"}, words[0])) {
		i := slices.IndexFunc(words, func(w string) bool { return words[0] != "kubectl" && w == program || w == "/"+program })
		words = words[max(0, i):]
	}
	if len(words) < 2 || words[0] != program && words[0] != "./"+program && words[0] != "/"+program || strings.HasSuffix(words[1], ":") {
		return nil, false // a text that a program prints begins with its name and that of the command
	}
	return words[1:], true
}

// understood returns why a program does not know the command, the flags or the words of a call.
func understood(p *cmdline.Program, args []string) error {
	if slices.Contains([]string{"-h", "--help", "COMMAND"}, args[0]) {
		return nil
	}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		args = args[1:] // flags of all commands, before the command
	}
	c := p.Find(args[0])
	if c == nil {
		return errors.New("no command " + args[0])
	}
	if args = args[1:]; len(args) > 0 {
		for _, sub := range c.Commands {
			if sub.Name == args[0] {
				c, args = sub, args[1:]
				break
			}
		}
	}
	if c.Run == nil {
		return errors.New("a word is missing or not known")
	}
	var h cmdline.HelpError
	if !errors.As(c.Run(context.Background(), []string{"-h"}, cmdline.Stdio{In: nil, Out: io.Discard, Err: io.Discard}), &h) {
		return nil // its flags are of others
	}
	if !c.First {
		if i := slices.Index(args, "--"); i >= 0 {
			args = args[:i] // what follows is another program's
		}
		if _, err := cmdline.Parse(h.Flags, args, 0, -1); err != nil && !errors.As(err, new(cmdline.HelpError)) {
			return err
		}
		return nil
	}
	for _, a := range args { // in the words of tipc(8), where flags stand anywhere
		name := strings.TrimLeft(a, "-")
		if a != name && name != "" && h.Flags.Lookup(name) == nil {
			return errors.New("no flag " + a)
		}
	}
	known := func(l string) bool {
		first := strings.NewReplacer("|", " ", "[", " ", "]", " ", "{", " ", "}", " ").Replace(l)
		return slices.ContainsFunc(strings.Fields(first), func(w string) bool { return strings.HasPrefix(w, args[0]) })
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !slices.ContainsFunc(c.Words, known) {
		return errors.New("no word " + args[0])
	}
	return nil
}
