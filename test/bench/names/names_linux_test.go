// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// tiny is a run that only shows that everything works.
var tiny = Plan{Bound: 2000, Lookups: 2, Binds: 50, Millions: 1, Each: 100, Rounds: 1, For: 30 * time.Millisecond, Names: 5, Deaths: 1}

// packet is what the command takes unless told otherwise.
var packet = xdp.Config{Driver: xdp.AFPacket}

// Every line is there, with a value: messages arrive by all ways once and in order, names
// are heard of and forgotten.
//
// Proves: names.cost
func TestLines(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	r, err := Measure(t.Context(), Options{Plan: tiny, Driver: packet, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, x := range r.Rows {
		if x.Error != "" || ids[x.ID] || x.What == "" {
			t.Errorf("%s, %q: %s", x.ID, x.What, x.Error)
		}
		ids[x.ID] = true
		none := strings.HasSuffix(x.ID, "-wrong")
		// Queues of a busy machine overflow; the run time itself allocates.
		if free := x.ID == "lookup-allocs" || strings.HasSuffix(x.ID, "-dropped"); !free && none != (x.Value == 0) {
			t.Errorf("%s: got %v", x.ID, x.Value)
		}
	}
	var b strings.Builder
	r.Write(&b)
	const figure, verdict = ` +[\d.e+-]+`, `  (ok|MISS)\n`
	for _, want := range []string{
		`look-up, 1000 types of 100 instances, beside a map` + figure + ` +<= 2` + verdict + `    \d+ ns beside \d+ ns; in the fastest rounds \d+ beside \d+\n`,
		`look-up, one type of 100,000 instances, beside a map` + figure + ` +<= 2` + verdict,
		`look-up, 10,000 ranges around one point, random, beside a map` + figure + ` +<= 4` + verdict,
		`allocations per look-up, the most of these` + figure + ` +<= 0.0001` + verdict,
		`one more of 10,000 ranges around one point, random, median` + figure + ` ns +<= 10000 ns` + verdict + `    to unbind \d+ ns\n`,
		`10000 bindings, 10,000 types of 100 instances, memory each` + figure + ` B +- +-\n`,
		`the same, to bind one` + figure + ` ns +- +-\n`,
		`the same, to lose a node of 65535` + figure + ` ms +- +-\n`,
		`64 B messages to 3 nodes, by broadcast` + figure + ` k/s +- +-\n    [\d.]+ frames of the sender a message\n`,
		`64 B messages to 3 nodes, as copies` + figure + ` k/s`,
		`64 B messages to 3 nodes, as 3 unicasts` + figure + ` k/s`,
		`64 B messages, by broadcast beside 3 unicasts` + figure + ` +- +-\n`,
		`1400 B messages, by broadcast beside 3 unicasts` + figure + ` +- +-\n`,
		`messages lost, doubled or reordered in all these +0 +<= 0  ok\n`,
		`frames dropped by devices, messages by sockets, in all these +\d+ +<= 0` + verdict + `    \d+ packets were sent again\n`,
		`from Bind until another node has sent there, median` + figure + ` us +- +-\nthe same, 99 of 100` + figure + ` us +- +-\n    5 times, the longest`,
		`from Bind until a subscriber on the same node knows, median` + figure + ` us`,
		`from Bind until a subscriber on another node knows, median` + figure + ` us`,
		`from Bind until a subscriber of this node on another knows, median` + figure + ` us`,
		`from silence until no node has a name of the dead, the worst` + figure + ` ms +<= 3250.0 ms` + verdict + `    1 deaths of a node with 100 names`,
		`\d+ of 18 targets met\n$`,
	} {
		if !regexp.MustCompile(`(^|\n)` + want).MatchString(b.String()) {
			t.Errorf("got\n%s\nwant %s", &b, want)
		}
	}
}

// A receiver notices what is not the next message, and a run that nobody reads ends.
//
// Proves: names.cost
func TestFlockSeesLoss(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	s, err := openSegment(t.Context(), packet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	f, err := s.openFlock(t.Context(), 64)
	if err != nil {
		t.Fatal(err)
	}
	for way := range ways {
		if p, err := f.run(t.Context(), way, 10*time.Millisecond); err != nil || p.rate <= 0 || p.frames <= 0 {
			t.Errorf("%s: got %+v, %v", ways[way].what, p, err)
		}
	}
	if f.wrong.Load() != 0 {
		t.Errorf("%d messages came wrong", f.wrong.Load())
	}
	f.sent++ // one that never was
	if err := f.send(f.from[byBroadcast], false); err != nil {
		t.Fatal(err)
	}
	f.sent-- // of which each receiver has one
	if err := f.await(0); err != nil {
		t.Error(err)
	}
	if wrong, err := f.close(); wrong != receivers || err != nil {
		t.Errorf("got %d wrong, %v, want %d", wrong, err, receivers)
	}
}

// Whoever counts withdrawals is not content with what is published.
//
// Proves: names.cost
func TestCountSeesOtherEvents(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	s, err := openSegment(t.Context(), packet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	sub, err := s.nodes[0].Subscribe(t.Context(), stack.Range{Type: typ, Upper: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	c, err := s.nodes[0].ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: typ})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), meeting)
	defer cancel()
	if _, err := count(ctx, []*stack.Subscription{sub}, true); err == nil || !strings.Contains(err.Error(), "after 0 of 100: published 18888:0") {
		t.Errorf("got %v, want what was published instead", err)
	}
}
