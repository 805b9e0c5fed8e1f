// SPDX-License-Identifier: Apache-2.0

package tier

import (
	"flag"
	"fmt"
	"testing"
)

// A witness is a test that notes how it ended.
type witness struct {
	testing.TB
	fatal, skip string
}

func (w *witness) Helper()           {}
func (w *witness) Fatal(what ...any) { w.fatal = fmt.Sprintln(what...) }
func (w *witness) Skip(what ...any)  { w.skip = fmt.Sprintln(what...) }

// What a test lacks skips it for an ordinary user, and fails it where all is required.
//
// Mutation: Missing does not look at the environment.
func TestMissing(t *testing.T) {
	for _, required := range []string{"", "all"} {
		t.Setenv("UTIPC_TEST_REQUIRE", required)
		var w witness
		Missing(&w, "no tool:", 17)
		const said = "no tool: 17\n"
		if failed := w.fatal == said; failed != (required == "all") || !failed && w.skip != said {
			t.Errorf("with %q: fatal %q, skip %q", required, w.fatal, w.skip)
		}
	}
}

// More tests run at once than there are processors, but as many as -parallel says.
//
// Mutations it catches: AtOnce changes nothing; AtOnce does not heed the flag.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{{nil, waiting}, {[]string{"-test.parallel", "3"}, 3}} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		got := flags.Int("test.parallel", 2, "")
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if atOnce(flags); *got != c.want {
			t.Errorf("%q: got %d at once, want %d", c.args, *got, c.want)
		}
	}
}
