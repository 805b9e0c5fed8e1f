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
//
// Proves: tools.flags
func TestHelp(t *testing.T) {
	cmdlinetest.Help(t, newProgram())
	cmdlinetest.Golden(t, newProgram())
}

// Help, manual page and completion name the flags that the commands parse, and no others.
//
// Mutations it catches: a usage without the line {flags}; a flag without a description; the
// completion that leaves out flags with two names.
//
// Proves: tools.flags
func TestFlagsAgree(t *testing.T) { cmdlinetest.Flags(t, newProgram()) }

// What bash offers.
//
// Mutation it catches: functions of the script that are named as those of utipc.
//
// Proves: tools.flags
func TestBashCompletion(t *testing.T) {
	try := cmdlinetest.Bash(t, newProgram())
	for line, want := range map[string]string{
		"utipc-lab re":             "replay",
		"utipc-lab bench cry":      "crypto",
		"utipc-lab sim names --tr": "--trace",
	} {
		if got := try(strings.Split(line, " ")...); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// Proves: tools.flags
func TestManual(t *testing.T) {
	if page := cmdlinetest.Manual(t, newProgram()); !strings.Contains(page, "utipc-lab replay --as 1.1.1") {
		t.Errorf("groff made of it:\n%s", page)
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{}, {"no-such-command"}, {"ping"}, {"-x"}, {""}} {
		if out, errs, status := utipcLab(nil, args...); status != cmdline.Misuse || out != "" || errs == "" {
			t.Errorf("%q: got status %d, %q and %q, want %d, nothing, a reason", args, status, out, errs, cmdline.Misuse)
		}
	}
}

// The commands and flags that the documents show are those of the program.
//
// Mutation it catches: docs/explanation/scaling.md has "utipc-lab bench cores --markdowns".
//
// Proves: house.docs
func TestDocumentedCommands(t *testing.T) {
	if n := cmdlinetest.Documented(t, newProgram(), "../.."); n < 20 {
		t.Errorf("found %d commands", n)
	}
}
