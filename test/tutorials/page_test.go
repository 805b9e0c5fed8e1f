// SPDX-License-Identifier: Apache-2.0

package tutorials

import (
	"strings"
	"testing"
)

const page = "text\n\n```\n$ serve &\n```\n\nmore text\n\n```\n$ ask 1\n12:00:00.1 node 7 <7:99> 3 sent 1.5ms\nsecond\n```\n"

// A page is cut into commands and outputs; what varies is not compared, what does not is.
//
// Mutation it catches: lasting takes every number off; compare ignores a command that did not end; steps
// takes the text between two blocks for output.
func TestPages(t *testing.T) {
	all := steps(page)
	if len(all) != 2 || all[0].command != "serve &" || len(all[0].output) != 0 || len(all[1].output) != 2 {
		t.Fatalf("got %q", all)
	}
	if s := script(all); !strings.Contains(s, "\nserve >/dev/null 2>/dev/null &\n") || !strings.Contains(s, "\nask 1\n") {
		t.Errorf("got the script %q", s)
	}
	good := mark(0) + "\n" + mark(1) + "\nsecond\ntime=1 level=WARN\n13:01:02.9 node 7 <7:1> 3 sent 9s\n" + mark(2) + "\n"
	if wrong := compare(all, good); len(wrong) != 0 {
		t.Errorf("got %q of the right output", wrong)
	}
	for _, bad := range []string{
		strings.Replace(good, "3 sent", "2 sent", 1),
		strings.Replace(good, "node 7", "node 8", 1),
		strings.Replace(good, "second\n", "", 1),
		strings.Replace(good, mark(2)+"\n", "", 1),
	} {
		if wrong := compare(all, bad); len(wrong) != 1 {
			t.Errorf("got %q of %q", wrong, bad)
		}
	}
}
