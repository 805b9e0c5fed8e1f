// SPDX-License-Identifier: Apache-2.0

// Package cmdlinetest checks that the help, the manual page and the completion of a
// program agree, and runs its completion.
package cmdlinetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// Output runs a program, which must succeed and report nothing, and returns what it prints.
func Output(t *testing.T, p *cmdline.Program, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if status := p.Run(t.Context(), args, nil, &out, &errs); status != cmdline.Done || errs.Len() > 0 {
		t.Errorf("%s %q: got status %d, %q", p.Name, args, status, errs.String())
	}
	return out.String()
}

// Help checks that the program lists its commands, and that each command prints its help.
func Help(t *testing.T, p *cmdline.Program) {
	list := Output(t, p, "-h")
	for _, c := range p.Commands {
		if !strings.Contains(list, "\n    "+c.Name+" ") || c.Short == "" {
			t.Errorf("%s -h: got no line on %s", p.Name, c.Name)
		}
		usage := Output(t, p, c.Name, "-h")
		if !strings.Contains(usage, "\n    "+p.Name+" "+c.Name) || !strings.HasSuffix(usage, "\n") {
			t.Errorf("%s %s -h: got %q, want an example in it", p.Name, c.Name, usage)
		}
	}
}

// flagName is the name of a flag in a line of help.
var flagName = regexp.MustCompile(`(?:^|[ (,])(--?[a-zA-Z][a-zA-Z0-9-]*)`)

// Flags checks that the help, the manual page and the completion of each command name
// every flag that the command parses, and that the lines of the help that begin with a
// flag name no other.
func Flags(t *testing.T, p *cmdline.Program) {
	scripts := map[string]string{}
	for line := range strings.Lines(Output(t, p, "completion", "bash")) {
		if name, flags, ok := strings.Cut(strings.TrimSpace(line), ") REPLY='"); ok {
			scripts[name] = scripts[name] + " " + strings.ReplaceAll(strings.TrimSuffix(flags, "' ;;"), "'", " ")
		}
	}
	manual := Output(t, p, "man")
	for _, c := range p.Commands {
		page := Output(t, p, "man", c.Name)
		known := map[string]bool{"-h": true}
		usages := Output(t, p, c.Name, "-h")
		for _, args := range ways(c) {
			flags := parsed(c, args)
			if flags == nil {
				continue // not of this system
			}
			usage := Output(t, p, append([]string{c.Name}, args...)...)
			usages += usage
			flags.VisitAll(func(f *flag.Flag) {
				name := "--" + f.Name
				if len(f.Name) == 1 {
					name = "-" + f.Name
				}
				known[name] = true
				if len(args) == 1 && f.Name != "help" && !slices.Contains(names(usage), name) {
					t.Errorf("%s %s %q: no word about %s", p.Name, c.Name, args, name)
				}
				if !slices.Contains(strings.Fields(scripts[c.Name]), name) {
					t.Errorf("%s completion: %s has no %s", p.Name, c.Name, name)
				}
				roff := strings.ReplaceAll(name, "-", `\-`)
				if len(args) == 1 && f.Name != "help" && (!strings.Contains(page, roff) || !strings.Contains(manual, roff)) {
					t.Errorf("%s man %s: no %s", p.Name, c.Name, name)
				}
			})
		}
		for line := range strings.Lines(usages) {
			if text := strings.TrimLeft(line, " "); strings.HasPrefix(text, "-") && len(line)-len(text) <= 4 {
				head, _, _ := strings.Cut(text, "  ")
				for _, name := range names(head) {
					if !known[name] {
						t.Errorf("%s %s -h names %s, which is no flag", p.Name, c.Name, name)
					}
				}
			}
		}
	}
}

// names are the flags that a text names.
func names(text string) (all []string) {
	for line := range strings.Lines(text) {
		for _, m := range flagName.FindAllStringSubmatch(line, -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// ways are the arguments that ask a command for its help, and for that of its words.
func ways(c *cmdline.Command) (all [][]string) {
	all = [][]string{{"-h"}}
	for _, line := range c.Words {
		for _, w := range strings.Split(strings.Fields(line)[0], "|") {
			all = append(all, []string{w, "-h"})
		}
	}
	return all
}

// parsed is what a command parses its flags with.
func parsed(c *cmdline.Command, args []string) *flag.FlagSet {
	var h cmdline.HelpError
	if errors.As(c.Run(context.Background(), args, cmdline.Stdio{In: nil, Out: io.Discard, Err: io.Discard}), &h) {
		return h.Flags
	}
	return nil
}

// Bash returns what bash offers to complete the last of some words.
func Bash(t *testing.T, p *cmdline.Program) func(words ...string) string {
	t.Helper()
	bash := lookPath(t, "bash")
	script := filepath.Join(t.TempDir(), p.Name)
	if err := os.WriteFile(script, []byte(Output(t, p, "completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	function := "_" + strings.ReplaceAll(p.Name, "-", "_")
	return func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"--norc", "-c", `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); ` + function + `; echo "${COMPREPLY[*]}"`, script}, words...)...)
		var errs bytes.Buffer
		cmd.Stderr, cmd.Dir = &errs, t.TempDir()
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Errorf("%q: %v, %s", words, err, errs.String())
		}
		return strings.TrimSpace(string(out))
	}
}

// OtherShells checks that zsh and fish, where they are installed, read their completion
// without a complaint.
func OtherShells(t *testing.T, p *cmdline.Program) {
	for shell, args := range map[string][]string{"zsh": {"-n"}, "fish": {"--no-execute"}} {
		out := Output(t, p, "completion", shell)
		if !strings.Contains(out, p.Commands[0].Name) {
			t.Errorf("%s: got %q", shell, out)
		}
		bin, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is missing", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := exec.CommandContext(t.Context(), bin, append(args, file)...).CombinedOutput(); err != nil || len(got) > 0 {
			t.Errorf("%s: %v, %s", shell, err, got)
		}
	}
}

// Manual checks that the manual page has every command, and that groff formats it without
// a complaint. It returns the words of the formatted page, parted by single spaces.
func Manual(t *testing.T, p *cmdline.Program) string {
	t.Helper()
	whole := Output(t, p, "man")
	for _, c := range p.Commands {
		if !strings.Contains(whole, "\n.SS "+c.Name+"\n") {
			t.Errorf("no section on %s", c.Name)
		}
		if one := Output(t, p, "man", c.Name); !strings.Contains(strings.ReplaceAll(one, `\-`, "-"), p.Name+" "+c.Name) {
			t.Errorf("man %s: got %q", c.Name, one)
		}
	}
	cmd := exec.CommandContext(t.Context(), lookPath(t, "groff"), "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin = strings.NewReader(whole)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Errorf("groff: %v\n%s", err, complaints.String())
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// lookPath finds a program; without it the test is skipped, and fails where all is required.
func lookPath(t *testing.T, name string) string {
	t.Helper()
	bin, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("UTIPC_TEST_REQUIRE") == "all" {
			t.Fatalf("%s is missing", name)
		}
		t.Skipf("%s is missing", name)
	}
	return bin
}
