// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stacktest/replay"
)

// A request that finds a queue full is sent again when the capture shows it: the pause
// is drawn, but is at least 100 ms. There is no capture of that; this one is made of the
// beginning of capture 09: B returns the request that it answers there, and A's next
// STATE is numbered accordingly.
//
// Proves: socket.simulated
func TestRepeatedRequest(t *testing.T) {
	for _, x := range []struct {
		pause   time.Duration // 0: it is not repeated
		timeout time.Duration // of the request; 0: the default
		want    string        // of the difference
	}{
		{400 * time.Millisecond, 0, ""},
		{40 * time.Millisecond, 0, "it was sent, and we send nothing"},
		{400 * time.Millisecond, 50 * time.Millisecond, "it was sent, and we send nothing"},
		{0, 0, "our timer of 100ms sends it"},
	} {
		c, calls := read(t, "09-seqpacket")
		calls = calls[:slices.IndexFunc(calls, func(c replay.Call) bool { return c.Verb == "connect" })]
		line := "1.091 A connect 1062716394 9000:1"
		if x.timeout != 0 {
			line += " timeout:" + strings.TrimSuffix(x.timeout.String(), "ms")
		}
		connect, err := replay.ParseCalls(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		refuse(t, c, x.pause)
		v, err := replay.Replay(c, replay.Options{Node: "A", Calls: append(calls, connect...)})
		switch {
		case err != nil:
			t.Errorf("%v: %v", x.pause, err)
		case x.want == "" && !v.OK(), x.want != "" && (v.Diff == nil || !strings.Contains(v.Diff.Why, x.want)):
			t.Errorf("pause %v: got %v\n%v\nwant %q", x.pause, v, v.Diff, x.want)
		}
	}
}

// refuse makes of capture 09 one in which the first request comes back with "overload"
// and is repeated after a pause, if that is not 0.
func refuse(t *testing.T, c *replay.Capture, pause time.Duration) {
	t.Helper()
	const request, answer, state = 27, 28, 133
	asks, answers, ticks := c.Frames[request-1], c.Frames[answer-1], c.Frames[state-1]
	c.Frames = c.Frames[:answer-1]

	back := answers // the request, as B returns it
	p, err := frame.ParsePayload(asks.Message)
	if err != nil {
		t.Fatal(err)
	}
	f, a := p.Fields(), answers.Message
	f.Common = frame.Common{Ack: a.Ack(), Seq: a.Seq(), BcastAck: a.BcastAck(), Prev: f.DestNode}
	f.Error, f.OrigPort, f.DestPort, f.OrigNode, f.DestNode = frame.Overload, f.DestPort, f.OrigPort, f.DestNode, f.OrigNode
	put(t, &back, f.Append(nil, p.Data()))

	// Later than back could arrive, if it took as long as possible.
	ticks.At = back.At + replay.ArrivesWithin + 2*time.Millisecond
	l, err := frame.ParseLink(ticks.Message)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := l.State()
	k := s.Fields()
	k.NextSent, k.Ack = asks.Message.Seq()+1, a.Seq()
	put(t, &ticks, k.Append(nil, s.Data()))

	c.Frames = append(c.Frames, back, ticks)
	if pause != 0 {
		again := asks
		again.No, again.At = ticks.No+1, back.At+pause
		msg := bytes.Clone(asks.Message.Bytes())
		frame.StampAcks(msg, a.Seq(), asks.Message.BcastAck())
		frame.StampSeq(msg, asks.Message.Seq()+1)
		put(t, &again, msg)
		c.Frames = append(c.Frames, again)
	}
	slices.SortStableFunc(c.Frames, func(a, b replay.Frame) int { return int(a.At - b.At) })
	for i := range c.Frames {
		c.Frames[i].No = i + 1
	}
	c.End = back.At + 420*time.Millisecond // before its next tick must be recorded
}

// put gives a frame another message.
func put(t *testing.T, f *replay.Frame, msg []byte) {
	t.Helper()
	f.Data = make([]byte, frame.EthernetLen)
	frame.PutEthernet(f.Data, f.Dst, f.Src)
	f.Data = append(f.Data, msg...)
	if f.Message, f.Bad = frame.Parse(msg); f.Bad != nil {
		t.Fatal(f.Bad)
	}
}
