// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"fmt"
	"testing"
)

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

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{".SH x": `\&.SH x`, "'a'": `\&'a\(aq`, `a\b`: `a\eb`, "--if": `\-\-if`, "10 µs": `10 \[u00B5]s`} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q): got %s, want %s", in, got, want)
		}
	}
}
