// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// When a STATE is answered, and with what: spec 02 §4.2 items 2 and 5, §4.5.
func TestAnswerToState(t *testing.T) {
	for _, c := range []struct {
		name string
		prep func(r *scriptedPeer)
		msg  func(f *frame.StateFields)
		want []string
	}{
		{"plain", nil, func(f *frame.StateFields) {}, nil},
		{"plain, behind", nil, func(f *frame.StateFields) { f.NextSent = 9 }, nil},
		{
			"probe", nil, func(f *frame.StateFields) { f.Probe, f.Keepalive = true, true },
			[]string{"link/state keepalive next=1 session=100 seq=2 ack=0"},
		},
		{
			"probe, tail lost", nil, func(f *frame.StateFields) { f.Probe, f.Keepalive, f.NextSent = true, true, 4 },
			[]string{"link/state keepalive gap=3 next=1 session=100 seq=2 ack=0"},
		},
		{
			"probe without the keepalive bit, tail lost", nil, func(f *frame.StateFields) { f.Probe, f.NextSent = true, 4 },
			[]string{"link/state keepalive gap=3 next=1 session=100 seq=2 ack=0"},
		},
		{"keepalive", nil, func(f *frame.StateFields) { f.Keepalive = true }, nil},
		{
			"keepalive, tail lost", nil, func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 4 },
			[]string{"link/state gap=3 next=1 session=100 seq=2 ack=0"},
		},
		{"keepalive, next sent before ours", nil, func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 0xfff0 }, nil},
		{
			"keepalive, something deferred", func(r *scriptedPeer) { r.receive(5, 0) },
			func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 6 }, nil,
		},
		{
			"probe, something deferred", func(r *scriptedPeer) { r.receive(5, 0) },
			func(f *frame.StateFields) { f.Probe, f.Keepalive, f.NextSent = true, true, 6 },
			[]string{"link/state keepalive gap=4 next=1 session=100 seq=2 ack=0"},
		},
		{
			"gap of 8191", nil, func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 1+8191 },
			[]string{"link/state gap=8191 next=1 session=100 seq=2 ack=0"},
		},
		{
			"gap beyond the window is cut", nil, func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 20000 },
			[]string{"link/state gap=8191 next=1 session=100 seq=2 ack=0"},
		},
		{
			"tail lost across the wrap", func(r *scriptedPeer) { r.at(1, 65534) }, func(f *frame.StateFields) { f.Keepalive, f.NextSent = true, 2 },
			[]string{"link/state gap=4 next=1 session=100 seq=2 ack=65533"},
		},
	} {
		r := newScriptedPeer(t).up()
		if c.prep != nil {
			c.prep(r)
			r.out()
		}
		r.hear(r.stateMsg(c.msg))
		wantLines(t, c.name, r.out(), c.want...)
		r.done()
	}
}

// A peer cannot make us send more than one STATE for one (spec 02 §12.13).
func TestAtMostOneStateInAnswer(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	for i := range 100 {
		r.hear(r.stateMsg(func(f *frame.StateFields) {
			f.Probe, f.Keepalive, f.NextSent, f.Gap = i%2 == 0, i%3 == 0, frame.Seq(i*7), i
		}))
		if got := r.out(); len(got) > 1 {
			t.Fatalf("message %d: got %q, want at most one", i, got)
		}
	}
}

func TestStateFields(t *testing.T) {
	for _, c := range []struct {
		name string
		msg  func(f *frame.StateFields)
		want State
		tol  time.Duration
		pri  uint8
	}{
		{"nothing", func(f *frame.StateFields) {}, Established, DefaultTolerance, 10},
		{"tolerance", func(f *frame.StateFields) { f.Tolerance = 2000 }, Established, 2 * time.Second, 10},
		{"tolerance too small", func(f *frame.StateFields) { f.Tolerance = 49 }, Established, DefaultTolerance, 10},
		{"tolerance too large", func(f *frame.StateFields) { f.Tolerance = 30001 }, Established, DefaultTolerance, 10},
		{"same priority", func(f *frame.StateFields) { f.Priority = 10 }, Established, DefaultTolerance, 10},
		{"lower priority", func(f *frame.StateFields) { f.Priority = 1 }, Resetting, DefaultTolerance, 1},
		{"higher priority", func(f *frame.StateFields) { f.Priority = 31 }, Resetting, DefaultTolerance, 31},
	} {
		r := newScriptedPeer(t).up()
		r.sup.silent = 3
		r.hear(r.stateMsg(c.msg))
		if r.State() != c.want || r.Tolerance() != c.tol || r.Priority() != c.pri {
			t.Errorf("%s: got %v %v %v, want %v %v %v", c.name, r.State(), r.Tolerance(), r.Priority(), c.want, c.tol, c.pri)
		}
		if r.sup.silent != 0 {
			t.Errorf("%s: got %v silent intervals, want 0", c.name, r.sup.silent)
		}
		r.done()
	}
}

// A tolerance made shorter by the peer takes effect before the old deadline.
func TestShorterToleranceMovesDeadline(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.hear(r.stateMsg(func(f *frame.StateFields) { f.Tolerance = 100 }))
	if got, want := r.Deadline(), 25*time.Millisecond; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The number of a STATE is its own when the peer knows that, else derived.
func TestStateNumber(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.SetCapabilities(allCaps &^ frame.CapLinkProtoSeqno)
	r.Report(0)
	r.SetCapabilities(allCaps)
	r.Report(0)
	wantLines(t, "sent", r.out(),
		"link/state next=1 session=100 seq=32768 ack=0",
		"link/state next=1 session=100 seq=2 ack=0")
}

// Worked example of spec 02 §11 and capture 01, frame 12, but for the record that
// this stack does not announce; and RESET of frame 8.
func TestMessagesOfCapture(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Session = 0xc718 })
	r.now = r.Deadline()
	r.HandleTimeout(r.now)
	r.hear(activate(func(f *frame.ResetFields) { f.Session, f.DestSession = 0x60e0, 0xc718 }))
	r.Up(r.now)
	for i, want := range []string{
		"4f400038 20000000 00008000 01001001 00000001 c7184000 01001001 01001002 00000000 01770000 65746830 00000000 00000000 00000000",
		"4f400028 00000000 00000001 01001001 00000001 c7184000 01001001 01001002 00000000 00000000",
	} {
		b := r.NextFrame()
		if got := hexWords(b.Bytes()[frame.EthernetLen:]); got != want {
			t.Errorf("frame %d:\n got %s\nwant %s", i, got, want)
		}
		b.Release()
	}
}
