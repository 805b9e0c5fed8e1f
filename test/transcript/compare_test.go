// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	countKind = Kind{"count", "how much a window has is an implementation's own", regexp.MustCompile(`^send\(.*\): (\d+) times`), false}
	aloneKind = Kind{"alone", "it need not come", regexp.MustCompile(`^event (.*)$`), true}
)

// Compare pairs lines that stand in the same place, of sections of the same name, and knows
// kinds by what their groups leave. Mutations it catches: lines are compared by their number alone,
// so that one line more makes all that follow differ; a kind covers every line it matches; a
// section that one side has not is passed over; every kind may stand alone.
func TestCompare(t *testing.T) {
	recorded := "== a\none\ntwo\nthree\nfour\n== b\nsend(s1): 12 times, then = EAGAIN\nsend(s2): 1 times, then = EAGAIN\n== c\nlast\n"
	for _, c := range []struct {
		name, got string
		equal     int
		want      string // the differences, each as section:number:recorded>got:kind
	}{
		{"the same", recorded, 7, ""},
		{"one line more", strings.Replace(recorded, "two\n", "more\ntwo\n", 1), 7, "a:1:>more: "},
		{"one line less", strings.Replace(recorded, "two\n", "", 1), 6, "a:2:two>: "},
		{"another line", strings.Replace(recorded, "two\n", "other\n", 1), 6, "a:2:two>other: "},
		{"two others, one more", strings.Replace(recorded, "two\nthree\n", "x\ny\nz\n", 1), 5, "a:2:two>x: a:3:three>y: a:3:>z: "},
		{"the first and the last", strings.NewReplacer("one", "x", "last", "y").Replace(recorded), 5, "a:1:one>x: c:1:last>y: "},
		{"a count", strings.Replace(recorded, "12 times", "13 times", 1), 6, "b:1:send(s1): 12 times, then = EAGAIN>send(s1): 13 times, then = EAGAIN:count "},
		{"a count and an error", strings.Replace(recorded, "12 times, then = EAGAIN", "13 times, then = EPIPE", 1), 6, "b:1:send(s1): 12 times, then = EAGAIN>send(s1): 13 times, then = EPIPE: "},
		{"a section less", strings.Replace(recorded, "== c\nlast\n", "", 1), 6, "c:1:last>: "},
		{"a section more", recorded + "== d\nnew\n", 7, "d:0:>new: "},
		{"one that stands alone", strings.Replace(recorded, "two\n", "event 1\ntwo\n", 1), 7, "a:1:>event 1:alone "},
		{"one that may not", strings.Replace(recorded, "send(s2): 1 times, then = EAGAIN\n", "", 1), 6, "b:2:send(s2): 1 times, then = EAGAIN>: "},
		{"nothing", "", 0, "a:1:one>: a:2:two>: a:3:three>: a:4:four>: b:1:send(s1): 12 times, then = EAGAIN>: b:2:send(s2): 1 times, then = EAGAIN>: c:1:last>: "},
		{"words before", "ld.so: no such library\n" + recorded, 7, ":0:>ld.so: no such library: "},
	} {
		r := Compare(recorded, c.got, []Kind{countKind, aloneKind})
		var got strings.Builder
		for _, d := range r.Differences {
			fmt.Fprintf(&got, "%s:%d:%s>%s:%s ", d.Section, d.Number, d.Recorded, d.Got, d.Kind)
		}
		if got.String() != c.want || r.Equal != c.equal || r.Lines != 7 {
			t.Errorf("%s: got %d of %d, %q, want %d, %q", c.name, r.Equal, r.Lines, got.String(), c.equal, c.want)
		}
	}
}
