// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// times returns when frames of a kind were sent.
func times(lines []string, kind string) (s []string) {
	for _, l := range lines {
		if w := strings.Fields(l); w[1] == kind {
			s = append(s, w[0])
		}
	}
	return s
}

// fresh is an engine that has just got its bearer, its first frame not taken.
func fresh(t testing.TB, c Config) *scriptedPeer {
	t.Helper()
	return newPeers(t, 1, 0, c.all).on(0, 0).peer
}

// opened returns the first frame and all until end, with their times.
func (p *scriptedPeer) opened(end time.Duration) (lines []string) {
	for _, l := range p.drain() {
		lines = append(lines, fmt.Sprint(p.now, " ", l))
	}
	return append(lines, p.wait(end)...)
}

// Captures 01 and 04: 0, 0.13, 0.41, 0.96, 2.01 s, then every second while alone.
//
// Proves: contact.discovery
func TestRequestsAlone(t *testing.T) {
	p := fresh(t, Config{Address: ownAddr})
	wantLines(t, "requests", times(p.opened(5*time.Second), "disc/request"),
		"0s", "125ms", "375ms", "875ms", "1.875s", "2.875s", "3.875s", "4.875s")
}

// With a working link the interval doubles to a minute, and when the last link is
// gone discovery hurries again (spec 03 §2.2).
//
// Proves: contact.discovery
func TestRequestsWithLink(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.AsKernel = true }).up() // ticks without a phase
	defer p.done()
	at := times(p.keepUp(300*time.Second), "disc/request")
	wantLines(t, "requests", at, "875ms", "1.875s", "3.875s", "7.875s", "15.875s", "31.875s", "1m3.875s", "2m3.875s", "3m3.875s", "4m3.875s")
	lost := p.now
	var after []string
	for _, l := range times(p.wait(lost+6*time.Second), "disc/request") {
		d, _ := time.ParseDuration(l)
		after = append(after, (d - lost).String())
	}
	if len(after) < 3 {
		t.Fatalf("after the loss: got %v", after)
	}
	first, _ := time.ParseDuration(after[0])
	second, _ := time.ParseDuration(after[1])
	third, _ := time.ParseDuration(after[2])
	if first > 2500*time.Millisecond || second-first != 250*time.Millisecond || third-second != 500*time.Millisecond {
		t.Errorf("after the loss: got %v, want a request at once, 250 and 500 ms later", after)
	}
}

// keepUp lets time pass while the peer answers.
func (p *scriptedPeer) keepUp(end time.Duration) (lines []string) {
	for p.Deadline() <= end {
		p.now = p.Deadline()
		p.HandleTimeout(p.now)
		for _, l := range p.drain() {
			lines = append(lines, fmt.Sprint(p.now, " ", l))
		}
		p.report(nil)
	}
	p.now = end
	return lines
}

// Capture 02: eight TRIALs, nothing at the end of the trial, then requests.
//
// Proves: contact.discovery
func TestTrialTranscript(t *testing.T) {
	p := fresh(t, Config{Identity: frame.Identity{'n', 'o', 'd', 'e', '-', 'a', 'l', 'p', 'h', 'a'}})
	lines := p.opened(3 * time.Second)
	wantLines(t, "trials", times(lines, "disc/trial"), "0s", "125ms", "250ms", "375ms", "500ms", "625ms", "750ms", "875ms")
	// The trial's last second is over at 1 s; measured 1.18, 1.47, 1.99, 3.02.
	wantLines(t, "requests", times(lines, "disc/request"), "1.125s", "1.375s", "1.875s", "2.875s")
	if got, want := p.Address(), frame.NodeAddr(0x2b6f0815); got != want {
		t.Errorf("address: got %v, want %v", got, want)
	}
	wantLines(t, "events", p.eventList(), "address settled 2b6f0815")
}

func trying(t testing.TB) *scriptedPeer {
	p := fresh(t, Config{Identity: frame.Identity{1, 2, 3, 4}})
	p.drain()
	return p
}

const tried frame.NodeAddr = 0x1020304

func object(dest, suggested frame.NodeAddr) func(*frame.DiscoveryFields) {
	return func(f *frame.DiscoveryFields) { f.Dest, f.Suggested = dest, suggested }
}

// Capture 03, frames 12 to 22: an objection starts a new second with the address
// suggested.
//
// Proves: contact.discovery
func TestTrialFailRestarts(t *testing.T) {
	p := trying(t)
	p.wait(500 * time.Millisecond)
	p.disc(frame.TrialFail, object(tried, 0xdb281571))
	lines := p.wait(3 * time.Second)
	wantLines(t, "trials", times(lines, "disc/trial"), "625ms", "750ms", "875ms", "1s", "1.125s", "1.25s", "1.375s")
	wantLines(t, "requests", times(lines, "disc/request"), "1.625s", "1.875s", "2.375s")
	if got, want := p.Address(), frame.NodeAddr(0xdb281571); got != want {
		t.Errorf("address: got %v, want %v", got, want)
	}
}

// Objections are not authenticated (spec 03 §9.4).
//
// Proves: contact.discovery
func TestTrialFailIsLimited(t *testing.T) {
	for _, c := range []struct {
		name            string
		dest, suggested frame.NodeAddr
		want            frame.NodeAddr
	}{
		{"heeded", tried, 5, 5},
		{"suggests nothing", tried, 0, tried},
		{"suggests the same", tried, tried, tried},
		{"to somebody else", tried + 1, 5, tried},
	} {
		p := trying(t)
		p.disc(frame.TrialFail, object(c.dest, c.suggested))
		p.wait(3 * time.Second)
		if got := p.Address(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	p := trying(t)
	for p.Address() == 0 && p.now < time.Minute {
		p.wait(p.now + 500*time.Millisecond)
		p.disc(frame.TrialFail, object(p.trial.addr, p.trial.addr+1))
	}
	if got, want := p.Address(), tried+maxTrials; got != want || p.now > 6*time.Second {
		t.Errorf("endless objections: got %v after %v, want %v", got, p.now, want)
	}
	p.disc(frame.TrialFail, object(p.Address(), 5))
	if got, want := p.Address(), tried+maxTrials; got != want {
		t.Errorf("objection to a settled address: got %v, want %v", got, want)
	}
}

// Spec 03 §2.4, in its order.
//
// Proves: contact.discovery
func TestObjection(t *testing.T) {
	id := func(b byte) frame.Identity { return frame.Identity{b} }
	for _, c := range []struct {
		name string
		id   frame.Identity
		addr frame.NodeAddr
		want string // address suggested; "" no objection
	}{
		{"known address and identity", frame.AddrIdentity(popAddr), popAddr, ""},
		{"known address, another identity", id(9), popAddr, "other"},
		{"known identity, another address", frame.AddrIdentity(popAddr), 0x5555, "1001002"},
		{"own address", id(9), ownAddr, "other"},
		{"free", id(9), 0x5555, ""},
	} {
		p := newScriptedPeer(t)
		p.disc(frame.Request, nil)
		p.drain()
		p.disc(frame.Trial, func(f *frame.DiscoveryFields) {
			f.Identity, f.Prev, f.MAC = c.id, c.addr, frame.MAC{2, 0, 0, 0, 0, 9}
		})
		got := p.drain()
		switch {
		case c.want == "" && len(got) == 0:
			continue
		case c.want == "" || len(got) != 1 || !strings.HasPrefix(got[0], "disc/trial-fail") || !strings.Contains(got[0], fmt.Sprint("dest=", c.addr)):
			t.Errorf("%s: got %q", c.name, got)
		case c.want != "other" && !strings.HasSuffix(got[0], "suggested="+c.want):
			t.Errorf("%s: got %q, want %v suggested", c.name, got, c.want)
		case c.want == "other" && !strings.HasSuffix(got[0], "suggested="+(c.addr^frame.NodeAddr(p.random)).String()):
			t.Errorf("%s: got %q, want %v suggested", c.name, got, c.addr^frame.NodeAddr(p.random))
		}
	}
}

func TestSuggestAvoidsKnown(t *testing.T) {
	p := newScriptedPeer(t)
	first := popAddr ^ frame.NodeAddr(p.random)
	for i := range 3 {
		p.byAddr[first+frame.NodeAddr(i)] = &node{}
	}
	if got, want := p.suggest(popAddr), first+3; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := p.suggest(frame.NodeAddr(p.random)); got == 0 {
		t.Error("0 suggested")
	}
}

// What is not answered, and why (spec 03 §2.3).
func TestDiscoveryRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*frame.DiscoveryFields)
		drop   string
		event  []string
	}{
		{"other network", func(f *frame.DiscoveryFields) { f.NetID = 4712 }, "other network=1", nil},
		{"own address", func(f *frame.DiscoveryFields) { f.Prev = ownAddr }, "not for this station or node=1", []string{"duplicate address 1001001"}},
		{"address 0", func(f *frame.DiscoveryFields) { f.Prev = 0 }, "not for this station or node=1", []string{"duplicate address 0"}},
		{"to another domain", func(f *frame.DiscoveryFields) { f.Dest = 0x1001003 }, "not for this station or node=1", nil},
		{"no identity", func(f *frame.DiscoveryFields) { f.Identity = frame.Identity{} }, "malformed=1", nil},
		{"multicast station", func(f *frame.DiscoveryFields) { f.MAC = frame.MAC{3, 0, 0, 0, 0, 2} }, "malformed=1", nil},
		{"no station", func(f *frame.DiscoveryFields) { f.MAC = frame.MAC{} }, "malformed=1", nil},
	} {
		p := newScriptedPeer(t)
		p.eventList()
		p.disc(frame.Request, c.change)
		p.wantDrops(c.name, c.drop)
		if got := p.drain(); got != nil || len(p.nodes) != 0 {
			t.Errorf("%s: got %q and %d nodes, want nothing", c.name, got, len(p.nodes))
		}
		wantLines(t, c.name, p.eventList(), c.event...)
	}
}

func TestDiscoveryAnswered(t *testing.T) {
	for _, c := range []struct {
		name   string
		typ    frame.DiscoveryType
		change func(*frame.DiscoveryFields)
		want   int
	}{
		{"request", frame.Request, nil, 1},
		{"request to this node", frame.Request, func(f *frame.DiscoveryFields) { f.Dest = ownAddr }, 1},
		{"response nobody asked for", frame.Response, func(f *frame.DiscoveryFields) { f.Dest = ownAddr }, 0},
		{"old node without identity", frame.Request, func(f *frame.DiscoveryFields) { f.Capabilities = 0x5e }, 1},
	} {
		p := newScriptedPeer(t)
		p.disc(c.typ, c.change)
		got := p.drain()
		if len(got) != c.want || c.want == 1 && (!strings.HasPrefix(got[0], "disc/response") || !strings.Contains(got[0], "dest=1001002")) {
			t.Errorf("%s: got %q, want %d responses", c.name, got, c.want)
		}
		if len(p.nodes) != 1 {
			t.Errorf("%s: got %d nodes, want 1", c.name, len(p.nodes))
		}
	}
}

// Own frames that come back, and frames whose source is not the station they
// name (spec 03 §9.2, §9.6).
func TestEchoAndSpoof(t *testing.T) {
	p := newScriptedPeer(t)
	f := frame.DiscoveryFields{Capabilities: popCaps, Prev: ownAddr, NetID: frame.DefaultNetID, MAC: ownMAC, Identity: frame.AddrIdentity(ownAddr)}
	p.raw(ether(frame.BroadcastMAC, ownMAC, f.Append(nil)))
	p.wantDrops("echo", "not for this station or node=1")
	f.Prev = popAddr
	p.raw(ether(frame.BroadcastMAC, popMAC, f.Append(nil)))
	p.wantDrops("own station from elsewhere", "not for this station or node=1")
	f.MAC = popMAC
	p.raw(ether(frame.BroadcastMAC, frame.MAC{2, 9}, f.Append(nil)))
	p.wantDrops("another source", "source is not the station it claims=1")
	p.raw(ether(frame.MAC{2, 9}, popMAC, f.Append(nil)))
	p.wantDrops("to another station", "not for this station or node=1")
	if got := p.drain(); got != nil || len(p.nodes) != 0 {
		t.Errorf("got %q and %d nodes, want nothing", got, len(p.nodes))
	}
}

// One answer to a node in 100 ms (spec 03 §9.3); a response is no answer.
func TestAnswersAreLimited(t *testing.T) {
	p := newScriptedPeer(t)
	var at []time.Duration
	for i := range 50 {
		p.now = time.Duration(i) * 10 * time.Millisecond
		p.disc(frame.Request, nil)
		if len(p.drain()) > 0 {
			at = append(at, p.now)
		}
	}
	if got, want := fmt.Sprint(at), "[0s 100ms 200ms 300ms 400ms]"; got != want {
		t.Errorf("answered at %v, want %v", got, want)
	}
	p = newScriptedPeer(t)
	p.disc(frame.Response, nil)
	p.disc(frame.Request, nil)
	if got := p.drain(); len(got) != 1 {
		t.Errorf("request behind a response: got %q, want an answer", got)
	}
}

// While the own address is on trial nobody is a neighbour, and a message ends a
// trial that is over.
func TestDiscoveryDuringTrial(t *testing.T) {
	p := trying(t)
	p.disc(frame.Request, nil)
	p.wantDrops("request", "before the own address is settled=1")
	p.hear(data(1, nil, "x"))
	p.wantDrops("data", "before the own address is settled=1")
	p.disc(frame.Trial, func(f *frame.DiscoveryFields) { f.Prev = tried })
	if got := p.drain(); len(got) != 1 || !strings.HasPrefix(got[0], "disc/trial-fail") {
		t.Errorf("the same address on trial: got %q, want an objection", got)
	}
	if p.OpenPort(PortConfig{}) != nil {
		t.Error("a port without an address")
	}
	p.now = time.Second
	p.disc(frame.Request, nil)
	if got := p.drain(); len(got) != 1 || p.Address() != tried || len(p.nodes) != 1 {
		t.Errorf("at the end: got %q, address %v, %d nodes", got, p.Address(), len(p.nodes))
	}
}
