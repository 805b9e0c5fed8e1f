// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/dissect"
)

// A Verdict is what a replay has found.
type Verdict struct {
	Node     Station
	Sent     int // own frames that were compared, and agree
	Of       int // own frames there are
	Sealed   int // of them, those that were sealed: headers were compared, and what was in them
	Whole    int // and of those, the ones that are the same on the wire
	Received int // frames that were fed
	Calls    int
	Late     int            // of those fed, the ones taken to arrive behind an own frame that is recorded after them
	Timers   int            // own frames that a timer sent
	Latest   time.Duration  // the latest of them, against when it was due
	Allowed  map[string]int // frames by allowance
	Runs     int            // replays it took
	Notes    []string       // of the capture
	Diff     *Difference    // nil: every answer agrees
}

// OK reports whether every answer agrees, and no more allowances were used than
// MaxAllowed.
func (v *Verdict) OK() bool { return v.Diff == nil && !v.tooMany() }

func (v *Verdict) tooMany() bool {
	n := 0
	for _, k := range v.Allowed {
		n += k
	}
	return float64(n) > MaxAllowed*float64(v.Of)
}

// String returns the verdict in one line, without the difference.
func (v *Verdict) String() string {
	var b strings.Builder
	word := "agrees"
	switch {
	case v.Diff != nil:
		word = "differs"
	case v.tooMany():
		word = "takes too many allowances"
	}
	fmt.Fprintf(&b, "%v %s: %d of %d frames sent compared, %d received, %d calls, %d arrived late, %d timers (latest by %v), %d runs",
		v.Node, word, v.Sent, v.Of, v.Received, v.Calls, v.Late, v.Timers, v.Latest.Round(100*time.Microsecond), v.Runs)
	if v.Sealed > 0 {
		fmt.Fprintf(&b, ", %d sealed, %d of them the same on the wire", v.Sealed, v.Whole)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Allowed)) {
		fmt.Fprintf(&b, ", %d %s", v.Allowed[k], k)
	}
	return b.String()
}

// A Difference is where a replay and a capture part.
type Difference struct {
	No       int           // of the recorded frame; 0 when there is none
	At       time.Duration // since the capture's first frame
	Recorded []byte        // nil: nothing was sent
	Ours     []byte        // nil: nothing is sent
	Why      string

	compared int // own frames before it
}

// String returns both frames as trees, the lines in which they differ marked, and
// in hexadecimal.
func (d *Difference) String() string {
	var b strings.Builder
	if d.No != 0 {
		fmt.Fprintf(&b, "frame %d, ", d.No)
	}
	fmt.Fprintf(&b, "at %.6f s: %s\n", d.At.Seconds(), d.Why)
	show(&b, "recorded", d.Recorded, d.Ours)
	show(&b, "ours", d.Ours, d.Recorded)
	return b.String()
}

func show(b *strings.Builder, whose string, data, other []byte) {
	if data == nil {
		return
	}
	fmt.Fprintf(b, "%s:\n", whose)
	lines, others := tree(data), tree(other)
	for _, l := range lines {
		mark := "  "
		if len(others) > 0 && !slices.Contains(others, l) {
			mark = "! "
		}
		b.WriteString(mark + l)
	}
	for l := range strings.Lines(hex.Dump(data)) {
		b.WriteString("  " + l)
	}
}

// tree returns what stands in a frame, a line each.
func tree(data []byte) []string {
	eth, m, err := frame.ParseEthernet(data)
	if err != nil {
		return nil
	}
	lines := []string{fmt.Sprintf("%v>%v\n", eth.Src(), eth.Dst())}
	return slices.AppendSeq(lines, strings.Lines(strings.TrimSuffix(dissect.Tree(m), "\n")+"\n"))
}

// differ says where two frames differ.
func differ(recorded, ours []byte) string {
	for i := range min(len(recorded), len(ours)) {
		if recorded[i] != ours[i] {
			if i < frame.EthernetLen {
				return fmt.Sprintf("byte %d differs, of the Ethernet header", i)
			}
			k := i - frame.EthernetLen
			return fmt.Sprintf("byte %d differs, word %d of the message", i, k/4)
		}
	}
	return fmt.Sprintf("%d bytes were sent, we send %d", len(recorded), len(ours))
}
