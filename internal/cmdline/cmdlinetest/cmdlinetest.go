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
	"github.com/utipc/utipc/test/tier"
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

// update makes Golden write its file.
var update = flag.Bool("update-help", false, "write testdata/help.txt")

// Golden checks that the help of all commands is that of testdata/help.txt; go test
// -run TestHelp -update-help writes it. Of a long paragraph that is there already it has the
// first line alone.
func Golden(t *testing.T, p *cmdline.Program) {
	t.Helper()
	var b strings.Builder
	b.WriteString(Output(t, p, "-h"))
	written := map[string]bool{}
	each(p, func(c *cmdline.Command, path []string) {
		b.WriteString("\n$ " + strings.Join(append([]string{p.Name}, append(path, "-h")...), " ") + "\n")
		parts := strings.Split(Output(t, p, append(path, "-h")...), "\n\n")
		for i, part := range parts {
			if first, _, _ := strings.Cut(part, "\n"); written[part] && strings.Count(part, "\n") > 4 {
				parts[i] = first + "\n    [...]"
			}
			written[part] = true
		}
		b.WriteString(strings.Join(parts, "\n\n"))
	})
	file := filepath.Join("testdata", "help.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() == string(want) {
		return
	}
	got, old := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(old)) {
		if got[i] != old[i] {
			t.Fatalf("%s, line %d: got %q, want %q; -update-help writes it", file, i+1, got[i], old[i])
		}
	}
	t.Errorf("%s: got %d lines, want %d; -update-help writes it", file, len(got), len(old))
}

// Help checks that the program lists its commands, and that each command prints its help.
func Help(t *testing.T, p *cmdline.Program) {
	each(p, func(c *cmdline.Command, path []string) {
		name := strings.Join(path, " ")
		list := Output(t, p, append(slices.Clone(path[:len(path)-1]), "-h")...)
		if !strings.Contains(list, "\n    "+c.Name+" ") {
			t.Errorf("%s -h: got no line on %s", p.Name, name)
		}
		usage := Output(t, p, append(path, "-h")...)
		if !strings.Contains(usage, "\n    "+p.Name+" "+name) || !strings.HasSuffix(usage, "\n") {
			t.Errorf("%s %s -h: got %q, want an example in it", p.Name, name, usage)
		}
	})
}

// each visits the commands of a program and theirs that are not hidden. The path is the
// arguments that name one.
func each(p *cmdline.Program, visit func(c *cmdline.Command, path []string)) {
	for _, c := range p.Commands {
		visit(c, []string{c.Name})
		for _, sub := range cmdline.Listed(c.Commands) {
			visit(sub, []string{c.Name, sub.Name})
		}
	}
}

// flagName is the name of a flag at the beginning of a line of help.
var flagName = regexp.MustCompile(`(?:^|, )(--?[a-zA-Z][a-zA-Z0-9-]*)`)

// Flags checks that the help, the manual page and the completion of each command name
// every flag that the command parses, that each flag is described, and that lines of the
// help that begin with a flag name no other.
func Flags(t *testing.T, p *cmdline.Program) {
	completed := completions(t, p)
	manual := Output(t, p, "man")
	each(p, func(c *cmdline.Command, path []string) {
		name := strings.Join(path, " ")
		usage, page := Output(t, p, append(path, "-h")...), Output(t, p, "man", path[0])
		said := map[string]bool{}
		for line := range strings.Lines(usage) {
			if text := strings.TrimLeft(line, " "); strings.HasPrefix(text, "-") && len(line)-len(text) <= 4 {
				head, _, _ := strings.Cut(strings.TrimSpace(text), "  ")
				for _, m := range flagName.FindAllStringSubmatch(head, -1) {
					said[m[1]] = true
				}
			}
		}
		var h cmdline.HelpError
		if c.Run != nil && errors.As(c.Run(context.Background(), []string{"-h"}, cmdline.Stdio{In: nil, Out: io.Discard, Err: io.Discard}), &h) {
			h.Flags.VisitAll(func(f *flag.Flag) {
				dashed := "--" + f.Name
				if len(f.Name) == 1 {
					dashed = "-" + f.Name
				}
				if !said[dashed] {
					t.Errorf("%s %s -h has no line on %s", p.Name, name, dashed)
				}
				delete(said, dashed)
				if f.Usage == "" {
					t.Errorf("%s %s: %s is not described", p.Name, name, dashed)
				}
				if !slices.Contains(completed[path[0]], dashed) {
					t.Errorf("%s completion: %s has no %s", p.Name, name, dashed)
				}
				roff := "\n.B " + strings.ReplaceAll(dashed, "-", `\-`)
				second := ", " + strings.ReplaceAll(dashed, "-", `\-`)
				if !strings.Contains(page, roff) && !strings.Contains(page, second) || !strings.Contains(manual, roff) && !strings.Contains(manual, second) {
					t.Errorf("%s man %s: no paragraph on %s", p.Name, name, dashed)
				}
			})
		}
		for dashed := range said {
			t.Errorf("%s %s -h has a line on %s, which it does not parse", p.Name, name, dashed)
		}
	})
}

// completions are the flags that bash is offered, by command.
func completions(t *testing.T, p *cmdline.Program) map[string][]string {
	t.Helper()
	script := Output(t, p, "completion", "bash")
	_, script, _ = strings.Cut(script, "_flags() {")
	script, _, _ = strings.Cut(script, "\n}\n")
	all := map[string][]string{}
	for line := range strings.Lines(script) {
		if name, flags, ok := strings.Cut(strings.TrimSpace(line), ") REPLY='"); ok {
			all[name] = strings.Fields(strings.TrimSuffix(flags, "' ;;"))
		}
	}
	return all
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
		tier.Missing(t, name, "is missing")
	}
	return bin
}
