// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/cmdline/cmdlinetest"
)

// The help of all commands is in testdata/help.txt.
//
// Mutation it catches: another order of flags, or another default.
func TestHelp(t *testing.T) {
	cmdlinetest.Help(t, newProgram())
	cmdlinetest.Golden(t, newProgram())
}

// Help, manual page and completion name the flags that the commands parse, and no others.
//
// Mutations it catches: a usage without the line {flags}; a flag without a description; the
// completion that leaves out flags with two names.
func TestFlagsAgree(t *testing.T) { cmdlinetest.Flags(t, newProgram()) }

// What bash offers.
func TestBashCompletion(t *testing.T) {
	try := cmdlinetest.Bash(t, newProgram())
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
		"utipc completion z":                   "zsh",
		"utipc link set broadcast REPLICAST x": "",
		"utipc $(touch oops) ; ":               "",
	} {
		if got := try(strings.Split(line, " ")...); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	if got := strings.Fields(try("utipc", "")); len(got) != len(newProgram().Commands) {
		t.Errorf("commands: got %q", got)
	}
}

func TestOtherCompletions(t *testing.T) {
	cmdlinetest.OtherShells(t, newProgram())
	if _, errs, code := utipc(nil, "completion", "tcsh"); code != cmdline.Misuse || !strings.Contains(errs, "tcsh") {
		t.Errorf("tcsh: exit %d, %q", code, errs)
	}
}

func TestManual(t *testing.T) {
	page := cmdlinetest.Manual(t, newProgram())
	if !strings.Contains(page, "utipc cat 18888:17 < file") || !strings.Contains(page, "AUTOSELECT} [ratio N] how multicast messages go") {
		t.Errorf("groff made of it:\n%s", page)
	}
	if _, _, code := utipc(nil, "man", "nothing"); code != cmdline.Misuse {
		t.Errorf("man nothing: exit %d", code)
	}
}

// The commands and flags that the documents show are those of the program.
//
// Mutations it catches: docs/how-to/live.md has "utipc top --address-of 1.1.9"; docs/reference/tools.md has "utipc link lst"; ping
// has another name for --count.
//
// Proves: house.docs
func TestDocumentedCommands(t *testing.T) {
	if n := cmdlinetest.Documented(t, newProgram(), "../.."); n < 150 {
		t.Errorf("found %d commands", n)
	}
}
