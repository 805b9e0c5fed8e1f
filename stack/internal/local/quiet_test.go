// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A peer whose link comes and goes a thousand times a second makes a few lines, then one
// of each kind a second, and every one that is left out is counted.
//
// Proves: hostile.bounded
func TestLogOfFlappingPeer(t *testing.T) {
	l := logbook{entries: make(chan entry, maxLogs)}
	logged, left := 0, 0
	take := func() {
		for len(l.entries) > 0 {
			e := <-l.entries
			logged++
			for _, a := range e.attrs {
				switch {
				case e.message == "lines left out":
					logged--
					left += int(a.Value.Int64())
				case a.Key == "left_out_before":
					left += int(a.Value.Int64())
				}
			}
		}
	}
	const rounds, each = 10_000, time.Millisecond
	kinds := []engine.EventKind{engine.LinkUp, engine.PeerUp, engine.LinkDown, engine.PeerLost}
	for i := range rounds {
		for _, k := range kinds {
			l.event(time.Duration(i)*each, engine.Event{Kind: k, Node: 9, Link: "a:eth0-b:eth0", Cause: flowctl.PeerRestarted})
		}
		take()
	}
	entries := l.entries
	l.close()
	l.entries = entries
	take()
	if want := len(kinds) * (sameLines + int(rounds*each/lineGap)); logged > want || logged < want-2*len(kinds) {
		t.Errorf("%d lines in %v, want %d", logged, rounds*each, want)
	}
	if left == 0 || logged+left != rounds*len(kinds) {
		t.Errorf("%d lines and %d left out, of %d", logged, left, rounds*len(kinds))
	}
}

// Ever other peers make no more lines than there may be in all, and what is remembered of
// them is bounded, and forgotten when they are quiet.
//
// Proves: hostile.bounded
func TestLogOfManyPeers(t *testing.T) {
	var q quiet
	logged, left, now := 0, 0, time.Duration(0)
	ask := func(s subject) {
		ok, n := q.ask(now, s)
		if ok {
			logged++
		}
		left += n
		if len(q.of) > maxSubjects {
			t.Fatalf("%d subjects are remembered", len(q.of))
		}
	}
	const many = 200_000
	for i := range many {
		now = time.Duration(i) * 50 * time.Microsecond
		ask(subject{engine.PeerUp, frame.NodeAddr(i)})
	}
	if most := allLines + int(now/allLinesGap) + 1; logged > most || logged < maxSubjects {
		t.Errorf("%d lines of %d peers in %v, want at most %d", logged, many, now, most)
	}
	if logged+left+q.left() != many {
		t.Errorf("%d lines, %d and %d left out, of %d", logged, left, q.left(), many)
	}
	now += time.Hour
	logged, left = 0, 0
	ask(subject{engine.PeerUp, 1 << 30})
	if len(q.of) != 1 || logged != 1 {
		t.Errorf("after an hour %d subjects are remembered, %d lines", len(q.of), logged)
	}
}

// What a peer says of itself is printed as text on one line.
func TestLogEscapes(t *testing.T) {
	f := frame.ResetFields{MaxPacket: 1500}
	copy(f.IfName[:], "\x1b[2J\nadmin\xff\"")
	m, err := frame.Parse(f.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err := frame.ParseLink(m)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := p.Reset()
	id := frame.Identity{'a', '\n', 0x1b}
	var text bytes.Buffer
	var l logbook
	l.open(slog.New(slog.NewTextHandler(&text, nil)))
	l.event(0, engine.Event{Kind: engine.LinkUp, Node: 9, Link: "b:eth0-" + id.LinkText(9) + ":" + r.IfName()})
	l.close()
	l.wait()
	got := text.String()
	if strings.Count(got, "\n") != 1 || strings.ContainsFunc(strings.TrimSuffix(got, "\n"), func(r rune) bool { return r < ' ' || r > '~' }) ||
		!strings.Contains(got, `b:eth0-610a1b:.[2J.admin.`) {
		t.Errorf("got %q", got)
	}
}
