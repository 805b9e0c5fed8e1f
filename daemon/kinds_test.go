// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A member of a group here and one elsewhere: messages to all, to one, events, and leaving.
//
// Proves: daemon.api
func TestGroups(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	own := p.must(attach.Header{Op: attach.OpJoin, Addr: service(4242, 7), Arg0: 2}, nil).Addr
	p.fails(syscall.EISCONN, attach.Header{Op: attach.OpJoin, Addr: service(4242, 7)}, nil)
	p.fails(syscall.EISCONN, attach.Header{Op: attach.OpBind, Addr: service(18888, 7)}, nil)
	g, err := stack.GroupConfig{Events: true}.Join(within(t), b.peer, stack.Service{Type: 4242, Instance: 8})
	if err != nil {
		t.Fatal(err)
	}
	g.SetDeadline(time.Now().Add(testTimeout))
	remote := attach.SocketSockaddr(g.LocalAddr().(stack.SocketAddr))
	if m := p.read(); m.Op != attach.OpMessage || stack.GroupKind(m.Arg0>>8) != stack.MemberJoined || m.Addr != remote || m.Addr2 != service(4242, 8) {
		t.Fatalf("got %v", &m.Header)
	}
	if r := p.call("socket.wait-members", map[string]int{"members": 1}); r.Errno != 0 {
		t.Fatal(r.Errno)
	}
	var members []stack.GroupMember
	if r := p.call("socket.members", nil); json.Unmarshal(r.data, &members) != nil || len(members) != 1 || members[0].Instance != 8 {
		t.Errorf("members %s", r.data)
	}
	p.send(attach.Header{Op: attach.OpSend}, []byte("all"))
	p.send(attach.Header{Op: attach.OpSend, Addr: service(4242, 8)}, []byte("any"))
	p.send(attach.Header{Op: attach.OpSend, Addr: remote}, []byte("you"))
	buf := make([]byte, 10)
	for _, want := range []string{"all", "any", "you"} {
		if k, from, err := g.ReadFrom(buf); err != nil || string(buf[:k]) != want || attach.SocketSockaddr(from.(stack.SocketAddr)) != own {
			t.Fatalf("got %q from %v, %v, want %q", buf[:k], from, err, want)
		}
	}
	if _, err := g.WriteTo([]byte("back"), stack.Service{Type: 4242, Instance: 7}); err != nil {
		t.Fatal(err)
	}
	if m := p.read(); string(m.data) != "back" || m.Addr != remote || m.Flags&attach.FlagPrivate == 0 {
		t.Fatalf("got %v %q", &m.Header, m.data)
	}
	p.must(attach.Header{Op: attach.OpLeave}, nil)
	for {
		_, m, err := g.ReadMsg(buf)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind == stack.MemberLeft {
			break
		}
	}
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpLeave}, nil)
	p.must(attach.Header{Op: attach.OpJoin, Addr: service(4243, 1)}, nil)
}

// Topology events of this node and of another.
//
// Proves: daemon.api
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	if err := b.node.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(b.peer.Addr())}); err != nil {
		t.Fatal(err)
	}
	for i, at := range []uint32{0, uint32(b.peer.Addr())} {
		p, q := b.program(t), b.program(t)
		q.socket(attach.KindRDM)
		lower := uint32(10*i + 1) // the peer may hear late that the name before is gone
		q.bind(300, lower)
		h := attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 300, Lower: lower, Upper: lower + 8}, 0), Arg0: at}
		p.must(h, nil)
		next := func() attach.Event {
			r := p.read()
			all, err := attach.ParseEvents(r.data, nil)
			if r.Op != attach.OpEvent || err != nil || len(all) != 1 {
				t.Fatalf("got %v, %v", &r.Header, err)
			}
			return all[0]
		}
		if ev := next(); ev.Kind != attach.EventPublished || ev.Range != (stack.Range{Type: 300, Lower: lower, Upper: lower}) || ev.Node != b.node.Addr() {
			t.Errorf("got %+v", ev)
		}
		q.c.Close() // as if it had died
		if ev := next(); ev.Kind != attach.EventWithdrawn {
			t.Errorf("got %+v", ev)
		}
		p.fails(syscall.EISCONN, h, nil)
		p.fails(syscall.EISCONN, attach.Header{Op: attach.OpSocket, Arg0: 4}, nil)
	}
	p := b.program(t)
	p.must(attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 301, Upper: 9}, 0), Wide: 1e6}, nil)
	if r := p.read(); r.Op != attach.OpEnd || r.Errno != 0 {
		t.Errorf("time over: got %v", &r.Header)
	}
	p = b.program(t)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSubscribe}, nil)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 300, Lower: 9}, 0)}, nil)
}

// Management calls: in several records, canceled, unknown, and about the daemon itself.
//
// Proves: daemon.api
func TestCalls(t *testing.T) {
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	var addr stack.NodeAddr
	if r := p.call("addr", nil); r.Errno != 0 || json.Unmarshal(r.data, &addr) != nil || addr != b.node.Addr() {
		t.Errorf("addr: %v %s", r.Errno, r.data)
	}
	if r := p.call("nonsense", nil); r.Errno != syscall.ENOSYS {
		t.Errorf("got %v", r.Errno)
	}
	var clients []daemon.Client
	if r := p.call("clients", nil); json.Unmarshal(r.data, &clients) != nil || len(clients) != 1 || clients[0].Program != "test" || clients[0].Connections != 1 {
		t.Errorf("clients: %s", r.data)
	}
	// Many names make an answer of several records, and a request may have several too.
	q := b.program(t)
	q.socket(attach.KindRDM)
	for i := range uint32(800) {
		q.bind(5000, i)
	}
	var names []stack.Binding
	r := p.call("names", nil)
	if err := json.Unmarshal(r.data, &names); err != nil || len(r.data) <= attach.MaxData || len(names) < 800 {
		t.Errorf("names: %d bytes, %d of them, %v", len(r.data), len(names), err)
	}
	p.id++
	in := attach.AppendCall(nil, "names", []byte(strings.Repeat(" ", 60000)+"{}"))
	p.send(attach.Header{Op: attach.OpCall, ID: p.id, Flags: attach.FlagMore}, in[:30000])
	p.send(attach.Header{Op: attach.OpPing, ID: 9999}, nil)
	p.answer(9999)
	p.send(attach.Header{Op: attach.OpCall, ID: p.id}, in[30000:])
	if r := p.answer(p.id); r.Errno != 0 {
		t.Errorf("in two records: %v %s", r.Errno, r.data)
	}
	// More than a request may have is refused once it is complete, and nothing is kept.
	p.id++
	long := make([]byte, attach.MaxData)
	for range attach.MaxRequest/attach.MaxData + 1 {
		p.send(attach.Header{Op: attach.OpCall, ID: p.id, Flags: attach.FlagMore}, long)
	}
	p.send(attach.Header{Op: attach.OpCall, ID: p.id}, nil)
	if r := p.answer(p.id); r.Errno != syscall.EMSGSIZE {
		t.Errorf("too long: %v", r.Errno)
	}
	// A call that waits is canceled; what comes after it did not wait for it.
	q.must(attach.Header{Op: attach.OpUnbind, Addr: service(5000, 0)}, nil)
	g := b.program(t)
	g.must(attach.Header{Op: attach.OpJoin, Addr: service(4242, 7)}, nil)
	g.send(attach.Header{Op: attach.OpCall, ID: 500}, attach.AppendCall(nil, "socket.wait-members", []byte(`{"members": 9}`)))
	g.must(attach.Header{Op: attach.OpPing}, nil)
	g.send(attach.Header{Op: attach.OpCancel, Arg0: 500}, nil)
	if r := g.answer(500); r.Errno != syscall.ECANCELED {
		t.Errorf("canceled: %v %s", r.Errno, r.data)
	}
}

// Streams: what happens to the node, and its frames.
//
// Proves: daemon.api
func TestStreams(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	p.must(attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "capture", []byte(`{"snap": 100}`)))
	q := b.program(t)
	q.socket(attach.KindRDM)
	q.bind(600, 1)
	if err := b.peer.WaitFor(within(t), stack.Service{Type: 600, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	if r := p.read(); r.Op != attach.OpItem || !strings.Contains(string(r.data), "eth0") || r.Wide == 0 {
		t.Errorf("got %v %q", &r.Header, r.data)
	}
	w := b.program(t)
	w.must(attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "watch", nil))
	w.fails(syscall.EISCONN, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "watch", nil))
	w.fails(syscall.ENOSYS, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "nonsense", nil))
	if err := b.peer.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	for {
		var ev admin.NodeEvent
		r := w.read()
		if r.Op != attach.OpItem || json.Unmarshal(r.data, &ev) != nil {
			t.Fatalf("got %v %s", &r.Header, r.data)
		}
		if ev.Kind == admin.LinkDown {
			break
		}
	}
}

// Options are what they were set to, before and after there is a socket.
//
// Proves: daemon.api
func TestOptions(t *testing.T) {
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	set := attach.AppendOption(attach.AppendOption(nil, attach.OptImportance, 2), attach.OptDestDroppable, 0)
	p.must(attach.Header{Op: attach.OpSocket, Arg0: uint32(attach.KindRDM)}, set)
	for _, o := range []attach.Option{
		{Name: attach.OptImportance, Value: 3},
		{Name: attach.OptSrcDroppable, Value: 1},
		{Name: attach.OptDestDroppable, Value: 1},
		{Name: attach.OptConnTimeout, Value: 1234},
		{Name: attach.OptNoDelay, Value: 1},
		{Name: attach.OptReceiveLimit, Value: 100000},
		{Name: attach.OptMulticast, Value: 2},
		{Name: attach.OptScope, Value: 3},
		{Name: attach.OptBacklog, Value: 5},
	} {
		p.must(attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, o.Name, o.Value))
		r := p.must(attach.Header{Op: attach.OpGetOption}, attach.AppendOption(nil, o.Name, 0))
		if got, err := attach.ParseOptions(r.data, nil); err != nil || len(got) != 1 || got[0] != o {
			t.Errorf("%v: got %v, %v", o, got, err)
		}
	}
	for _, o := range []attach.Option{
		{Name: attach.OptImportance, Value: 4},
		{Name: attach.OptImportance, Value: -1},
		{Name: attach.OptConnTimeout, Value: -1},
		{Name: attach.OptMulticast, Value: 3},
		{Name: attach.OptScope, Value: 1},
		{Name: attach.OptReceiveLimit, Value: 1 << 40},
		{Name: attach.OptBacklog, Value: -1},
		{Name: attach.OptRecvQueueUsed, Value: 1},
	} {
		p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, o.Name, o.Value))
	}
	p.fails(syscall.ENOPROTOOPT, attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, 4444, 1))
	p.fails(syscall.ENOPROTOOPT, attach.Header{Op: attach.OpGetOption}, attach.AppendOption(nil, 4444, 1))
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSetOption}, []byte("x"))
	p.fails(syscall.EISCONN, attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, attach.OptNameWait, 1))
	for _, o := range []attach.OptionName{attach.OptSockRecvQueue, attach.OptRecvQueueUsed, attach.OptNodeRecvQueue} {
		r := p.must(attach.Header{Op: attach.OpGetOption}, attach.AppendOption(nil, o, 0))
		if got, err := attach.ParseOptions(r.data, nil); err != nil || len(got) != 1 || got[0].Value != 0 {
			t.Errorf("%v: got %v, %v", o, got, err)
		}
	}
	// What was bound with the scope of the option is told on this node alone.
	p.bind(700, 1)
	for _, n := range must.Get(b.node.Admin().Names(context.Background())) {
		if n.Range.Type == 700 && n.Scope != stack.NodeScope {
			t.Errorf("bound %v", n)
		}
	}
}

// What comes back is told with its code and the name it was for.
//
// Proves: daemon.api
func TestReturned(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	p.must(attach.Header{Op: attach.OpSocket, Arg0: uint32(attach.KindRDM)}, attach.AppendOption(nil, attach.OptDestDroppable, 0))
	gone := attach.SocketSockaddr(stack.SocketAddr{Node: b.peer.Addr(), Port: 1234567})
	if err := b.node.WaitFor(within(t), stack.Service{Type: stack.NodeState, Instance: uint32(b.peer.Addr())}); err != nil {
		t.Fatal(err)
	}
	p.must(attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Addr: gone}, []byte("comes back"))
	if m := p.read(); m.Op != attach.OpMessage || m.Arg1 == 0 || m.Addr != gone || string(m.data) != "comes back" {
		t.Errorf("got %v %q", &m.Header, m.data)
	}
}

// A ring carries what the socket did, both ways.
//
// Proves: daemon.socket
func TestRing(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, spin := range []uint32{0, 100} {
		p := b.program(t)
		p.fails(syscall.EOPNOTSUPP, attach.Header{Op: attach.OpRing}, nil)
		own := p.socket(attach.KindRDM)
		p.fails(syscall.EINVAL, attach.Header{Op: attach.OpRing, Arg0: 1000}, nil)
		p.useRing(spin)
		if b.srv.Counters().Rings != 1 {
			t.Errorf("rings: %+v", b.srv.Counters())
		}
		for i := range 1000 {
			data := make([]byte, i*66)
			p.send(attach.Header{Op: attach.OpSend, Addr: own}, append(data, byte(i)))
			if m := p.read(); m.Addr != own || len(m.data) != len(data)+1 || m.data[len(data)] != byte(i) {
				t.Fatalf("message %d: %v", i, &m.Header)
			}
		}
		p.must(attach.Header{Op: attach.OpPing}, nil)
		p.c.Close()
		waitFor(t, func() bool { return b.srv.Counters().Rings == 0 })
	}
}

// useRing asks for a ring.
func (p *program) useRing(spin uint32) {
	p.t.Helper()
	p.id++
	p.send(attach.Header{Op: attach.OpRing, ID: p.id, Arg1: spin}, nil)
	var h attach.Header
	_, fd, err := p.c.ReadFD(&h, nil)
	if err == nil {
		err = p.c.TakeRing(&h, fd)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// waitFor waits for what happens without anybody being told.
func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := within(t)
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("waited in vain")
		}
	}
}
