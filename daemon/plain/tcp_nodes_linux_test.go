// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// dialer makes connections of node b to the listener l of node a.
type dialer struct {
	a, b *Sockets
	l    int
	at   tcpwire.Addr // of l
	dest stack.Service
}

func newDialer(t *testing.T, wait time.Duration) (d dialer) {
	t.Helper()
	network := hub.New(hub.Config{})
	d.a, d.b = withTCP(t, network, 1), withTCP(t, network, 2)
	d.a.tcp.nodes.wait = wait
	d.l, d.at = d.a.listening(t, Caller{Context: t.Context(), Enter: unlimited{}.Another})
	d.dest = d.at.Service()
	var err error
	if d.dest.Node, err = d.b.tcp.nodes.node(t.Context(), d.at.IP); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *dialer) dial(t *testing.T, opening []byte) *stack.Conn {
	t.Helper()
	c, err := stack.SocketConfig{}.DialWith(t.Context(), d.b.node, tcpwire.Network, d.dest, opening)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (d *dialer) bind(t *testing.T, r stack.Range) {
	t.Helper()
	r.Type = tcpwire.NodeType
	if _, err := d.b.node.ListenPacket(t.Context(), "tipcrdm", r); err != nil {
		t.Fatal(err)
	}
}

// A connection is from the address that it says, when that is one of the node that it comes from. Names may come later than
// the connection.
//
// Mutations it catches: taken does not wait for the name; it gives the listener's address for the other.
//
// Proves: tcp.source
func TestTCPSource(t *testing.T) {
	d := newDialer(t, time.Minute)
	accepted := func(from tcpwire.Addr) {
		t.Helper()
		fd := take(t, d.l)
		defer unix.Close(fd)
		peer, ok := d.a.secret.peer(fd)
		if !ok || peer.Addr != tcpName(from) {
			t.Errorf("it is from %v, want %v", peer.Addr, tcpName(from))
		}
	}
	from := tcpwire.Addr{IP: d.b.tcp.ip, Port: 777}
	c := d.dial(t, tcpwire.AppendOpening(nil, from, d.at))
	accepted(from)
	c.Abort()
	late := tcpwire.Addr{IP: d.b.tcp.ip + 5, Port: 778}
	c = d.dial(t, tcpwire.AppendOpening(nil, late, d.at))
	d.bind(t, stack.Range{Lower: late.IP, Upper: late.IP})
	accepted(late)
	c.Abort()
	if got := d.a.TCPCounters().Refused; got != 0 {
		t.Errorf("%d are refused", got)
	}
}

// A connection that says to be from an address that its node has not, or to be to another than that of who listens, is refused
// and counted; and so is one from this node, whose own are handed over.
//
// Mutations it catches: taken takes one of this node; it believes where it is from; it believes where it is to; it takes
// openings of another mark or length; learn takes a range for its first address; refuseTCP counts nothing, or ends nothing.
func TestTCPFalseSource(t *testing.T) {
	d := newDialer(t, time.Millisecond)
	from, wide := tcpwire.Addr{IP: d.b.tcp.ip, Port: 777}, tcpwire.Addr{IP: d.b.tcp.ip + 6, Port: 778}
	d.bind(t, stack.Range{Lower: wide.IP, Upper: wide.IP + 1})
	right := tcpwire.AppendOpening(nil, from, d.at)
	for i, opening := range [][]byte{
		tcpwire.AppendOpening(nil, wide, d.at),
		tcpwire.AppendOpening(nil, tcpwire.Addr{IP: d.a.tcp.ip, Port: 777}, d.at),
		tcpwire.AppendOpening(nil, tcpwire.Addr{IP: 0, Port: 777}, d.at),
		tcpwire.AppendOpening(nil, tcpwire.Addr{IP: d.a.tcp.ip + 8, Port: 777}, d.at),
		tcpwire.AppendOpening(nil, from, tcpwire.Addr{IP: d.at.IP, Port: d.at.Port + 1}),
		tcpwire.AppendOpening(nil, from, tcpwire.Addr{IP: d.at.IP + 1, Port: d.at.Port}),
		append([]byte("TCP\x02"), right[4:]...),
		append(right[:tcpwire.OpeningLen:tcpwire.OpeningLen], 0),
		right[:tcpwire.OpeningLen-1],
	} {
		c := d.dial(t, opening)
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%d: %v", i, err)
		}
		if got := d.a.TCPCounters().Refused; got != uint64(i+1) {
			t.Errorf("%d: %d are refused", i, got)
		}
		c.Abort()
	}
	d.b, d.dest.Node = d.a, 0
	before := d.a.TCPCounters().Refused
	c := d.dial(t, tcpwire.AppendOpening(nil, tcpwire.Addr{IP: d.a.tcp.ip, Port: 777}, d.at))
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) || d.a.TCPCounters().Refused != before+1 {
		t.Errorf("from a program of this node: %v, %d are refused", err, d.a.TCPCounters().Refused-before)
	}
	c.Abort()
}

// Of nodes that bind one address the first has it, as long as it does.
//
// Mutations it catches: the last has it; one that withdraws takes it from all.
func TestTCPOwner(t *testing.T) {
	n := newTCPNodes()
	for i, step := range []struct {
		node  stack.NodeAddr
		bound bool
		want  stack.NodeAddr
	}{{1, true, 1}, {2, true, 1}, {3, true, 1}, {2, false, 1}, {1, false, 3}, {1, false, 3}, {3, false, 0}, {3, true, 3}} {
		_, news := n.owner(7)
		n.note(7, step.node, step.bound)
		<-news
		if got, _ := n.owner(7); got != step.want {
			t.Errorf("%d: %v has it, want %v", i, got, step.want)
		}
	}
}

// Connections that wait for the names of their nodes are limited.
//
// Mutations it catches: taken counts none; one that has ended is counted still.
func TestTCPUnproven(t *testing.T) {
	d := newDialer(t, time.Minute)
	false0 := tcpwire.AppendOpening(nil, tcpwire.Addr{IP: d.b.tcp.ip + 9, Port: 1}, d.at)
	refused := func(want uint64) {
		t.Helper()
		for tick := time.NewTicker(time.Millisecond); d.a.TCPCounters().Refused != want; <-tick.C {
			if t.Context().Err() != nil {
				return
			}
		}
	}
	for range mostUnproven {
		d.dial(t, false0)
	}
	for tick := time.NewTicker(time.Millisecond); d.a.tcpUnproven.Load() != mostUnproven; <-tick.C {
	}
	c := d.dial(t, false0)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	refused(1)
	d.bind(t, stack.Range{Lower: d.b.tcp.ip + 9, Upper: d.b.tcp.ip + 9}) // they are from there after all
	for range mostUnproven {
		unix.Close(take(t, d.l))
	}
	if got := d.a.tcpUnproven.Load(); got != 0 {
		t.Errorf("%d wait still", got)
	}
	refused(1)
}
