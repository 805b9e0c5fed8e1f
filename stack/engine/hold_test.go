// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// users drains what was sent and returns the data in it: "[a b]" is a bundle.
func (p *scriptedPeer) users() string {
	var s []string
	p.collect()
	for _, f := range p.sent {
		b := f.bytes
		m, err := frame.Parse(b[frame.EthernetLen:])
		if err != nil {
			p.t.Fatal(err)
		}
		if m.User() == frame.UserLink || m.User() == frame.UserDiscovery {
			continue
		}
		var in []string
		if u, err := frame.ParseBundle(m); err == nil {
			for m := range u.Messages() {
				in = append(in, string(m.Data()))
			}
			s = append(s, "["+strings.Join(in, " ")+"]")
		} else {
			s = append(s, string(m.Data()))
		}
	}
	p.sent = nil
	return strings.Join(s, " ")
}

// Proves: link.bundles
func TestHold(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.OpenPort(PortConfig{})
	defer p.done()
	defer port.Close(0)
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	send := func(data ...string) {
		t.Helper()
		for _, d := range data {
			if err := port.Send(p.now, to, []byte(d)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(what, want string, holding bool) {
		t.Helper()
		if got := p.users(); got != want || p.Holding() != holding {
			t.Errorf("%s: got %q, holding %v; want %q, %v", what, got, p.Holding(), want, holding)
		}
	}
	p.users()
	p.Flush(p.now)
	want("nothing to flush", "", false)
	send("a", "b")
	want("not held", "a b", false)
	p.Hold(true)
	send("c", "d", "e")
	want("held", "", true)
	p.Flush(p.now)
	want("flushed", "[c d e]", false)
	send("f")
	want("held again", "", true)
	p.Flush(p.now)
	want("one alone", "f", false)
	send("g")
	p.Hold(false)
	want("held no longer, and nothing sent", "", true)
	send("h")
	want("the next takes it along", "[g h]", true)
	p.Flush(p.now)
	want("flushed", "", false)

	p.Hold(true)
	send("i")
	long := strings.Repeat("x", 1400)
	p.Hold(false)
	send(long)
	want("so does one that has no room there", "i "+long, true)
	p.Flush(p.now)

	p.Hold(true)
	for range HoldFull {
		send(long)
	}
	want("not more than enough", "", true)
	send("last")
	want("what is full goes by itself", strings.TrimSpace(strings.Repeat(long+" ", HoldFull)), true)
	send("more")
	p.Flush(p.now)
	want("flushed", "[last more]", false)
}

// What a lost link held is lost; the next one holds anew.
func TestHoldEndsWithItsLink(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	p.Hold(true)
	if err := port.Send(p.now, to, []byte("old")); err != nil {
		t.Fatal(err)
	}
	p.users()
	n := p.byAddr[popAddr]
	p.cutLink(p.now, n.links[0])
	p.Flush(p.now)
	if got := p.users(); got != "" || p.Holding() {
		t.Errorf("got %q, holding %v; want nothing", got, p.Holding())
	}
	port.Close(p.now)
	p.done()
}
