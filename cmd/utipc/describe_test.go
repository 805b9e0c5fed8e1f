// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every flag is told of by -h, and every flag that -h tells of is one.
func TestUsageTellsOfEveryFlag(t *testing.T) {
	for _, d := range describe() {
		told := usageFlags(d.usage)
		for _, f := range d.flags {
			name := strings.TrimLeft(f.name, "-")
			u, ok := told[name]
			switch {
			case ok && f.bare && u.value != "":
				t.Errorf("%s %s: -h gives it a value, %q, it takes none", d.name, f.name, u.value)
			case !ok && len(d.ways) == 0 && !strings.Contains(d.usage, f.name):
				t.Errorf("%s %s: -h does not tell of it", d.name, f.name)
			}
		}
		for name := range told {
			known := func(f flagText) bool { return strings.TrimLeft(f.name, "-") == name }
			if name != "h" && !slices.ContainsFunc(d.flags, known) {
				t.Errorf("%s -h tells of a flag %s that it has not", d.name, name)
			}
		}
	}
}

func TestUsageFlags(t *testing.T) {
	got := usageFlags(`about: nothing.

    --one N          a number of
                     things
    --two KEY, --three ID=KEY
    -j, --json       print JSON
--bare     no indent

    utipc about --not-a-flag x
    --if IFACE       two lines
                     of text

text --neither
`)
	for name, want := range map[string]string{"one": "N: a number of things", "two": "KEY: ", "three": "ID=KEY: ", "j": ": print JSON", "json": ": print JSON", "bare": ": no indent", "if": "IFACE: two lines of text"} {
		if f := got[name]; f.value+": "+f.text != want {
			t.Errorf("%s: got %+v, want %s", name, f, want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and these: %v", got)
	}
}

func TestSpell(t *testing.T) {
	for line, want := range map[string]string{
		"list":                                "[[list]]",
		"get a|b media MEDIA":                 "[[get a media MEDIA] [get b media MEDIA]]",
		"show [link {LINK|SUB|all}]":          "[[show link LINK] [show link SUB] [show link all] [show]]",
		"set {A b|C} [ratio N]":               "[[set A b ratio N] [set A b] [set C ratio N] [set C]]",
		"list [media M {device D|name NAME}]": "[[list media M device D] [list media M name NAME] [list]]",
		"bash|zsh|fish":                       "[[bash] [zsh] [fish]]",
		"":                                    "[]",
	} {
		if got := fmt.Sprint(spell([]string{line})); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

// What bash offers.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		skipOrFail(t, "bash is missing")
	}
	script := filepath.Join(t.TempDir(), "utipc")
	out, errs, code := utipc(nil, "completion", "bash")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %q", code, errs)
	}
	if err := os.WriteFile(script, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(words ...string) string {
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"--norc", "-c", `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _utipc; echo "${COMPREPLY[*]}"`, script}, words...)...)
		var errs bytes.Buffer
		cmd.Stderr, cmd.Dir = &errs, t.TempDir()
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Errorf("%q: %v, %s", words, err, errs.String())
		}
		return strings.TrimSpace(string(out))
	}
	for line, want := range map[string]string{
		"utipc comp":                           "completion",
		"utipc link ":                          "list get set statistics monitor",
		"utipc link get prio":                  "priority",
		"utipc link set priority 5 ":           "link",
		"utipc link --socket /x -j statis":     "statistics",
		"utipc cat --network ":                 "tipc tipcpacket tipcrdm tipcgram",
		"utipc cat --quiet --network tipcp":    "tipcpacket",
		"utipc ping --if l":                    "lo",
		"utipc top --so":                       "--socket --sort",
		"utipc bench cry":                      "crypto",
		"utipc link set broadcast REPLICAST x": "",
		"utipc $(touch oops) ; ":               "",
	} {
		if got := try(strings.Split(line, " ")...); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	if got := strings.Fields(try("utipc", "")); len(got) != len(commands()) {
		t.Errorf("commands: got %q", got)
	}
}

// The scripts for zsh and fish are read by these without a complaint, where they are.
func TestOtherCompletions(t *testing.T) {
	for shell, args := range map[string][]string{"zsh": {"-n"}, "fish": {"--no-execute"}} {
		out, errs, code := utipc(nil, "completion", shell)
		if code != 0 || errs != "" || !strings.Contains(out, "statistics") {
			t.Errorf("%s: exit %d, %q, %q", shell, code, errs, out)
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
	if _, errs, code := utipc(nil, "completion", "tcsh"); code != exitMisuse || !strings.Contains(errs, "tcsh") {
		t.Errorf("tcsh: exit %d, %q", code, errs)
	}
}

// The manual has every command and flag, and groff has nothing to say against it.
func TestManual(t *testing.T) {
	whole, errs, code := utipc(nil, "man")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %q", code, errs)
	}
	for _, d := range describe() {
		if !strings.Contains(whole, "\n.SS "+d.name+"\n") {
			t.Errorf("nothing of %s", d.name)
		}
		one, errs, code := utipc(nil, "man", d.name)
		if code != 0 || errs != "" || !strings.Contains(one, roff("utipc "+d.name)) {
			t.Errorf("man %s: exit %d, %q, %q", d.name, code, errs, one)
		}
	}
	if _, _, code := utipc(nil, "man", "nothing"); code != exitMisuse {
		t.Errorf("man nothing: exit %d", code)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		skipOrFail(t, "groff is missing")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-P-cbou")
	cmd.Stdin = strings.NewReader(whole)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Errorf("groff: %v\n%s", err, complaints.String())
	}
	if got := strings.Join(strings.Fields(string(out)), " "); !strings.Contains(got, "utipc cat 18888:17 < file") || !strings.Contains(got, "AUTOSELECT} [ratio N] how multicast messages go") {
		t.Errorf("groff made of it:\n%s", out)
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{".SH x": `\&.SH x`, "'a'": `\&'a\(aq`, `a\b`: `a\eb`, "--if": `\-\-if`, "10 µs": `10 \[u00B5]s`} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q): got %s, want %s", in, got, want)
		}
	}
}
