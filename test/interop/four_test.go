// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/rig"
)

// Types of services that the four bind.
const (
	fourType  = 19000
	otherType = 19001
	castType  = 19002
)

// A four is two nodes of ours and two kernels in one segment.
type four struct {
	ctx     context.Context
	segment *Segment
	links   []rig.Link
	members [4]member
	ledgers [4]*ledger
	want    map[bound]pledge // what is bound, {0,A,A} of all nodes included
}

// A pledge is how often a socket is bound to a range, and how far that is told.
type pledge struct {
	times int
	scope stack.Scope
}

// us and kernels are indices of members.
var (
	us      = []int{0, 3}
	kernels = []int{1, 2}
)

const nodesOfFour = 4

// agreement is how long the four are given to agree; lost frames may take some seconds.
const agreement = 3 * time.Minute

func fourAddr(i int) stack.NodeAddr { return ourAddr + stack.NodeAddr(i) }

// newFour starts all four and waits until each knows all.
func newFour(t *testing.T, testTimeout time.Duration) *four {
	t.Helper()
	im := rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	f := &four{ctx: ctx, want: map[bound]pledge{}}
	var macs []frame.MAC
	for i := range nodesOfFour {
		macs = append(macs, frame.MAC{0x52, 0x54, 0, 0, 1, byte(i)})
	}
	var err error
	f.segment, f.links, err = NewSegment(macs...)
	must(t, err)
	t.Cleanup(func() { f.shut(t) })
	began := time.Now()
	for _, i := range us {
		f.openOurs(t, i)
	}
	booted := make(chan error, len(kernels))
	for _, i := range kernels {
		go func() { booted <- f.boot(im, i) }()
	}
	for range kernels {
		err = errors.Join(err, <-booted)
	}
	must(t, err)
	up := time.Since(began)
	for i := range f.members {
		f.join(t, i)
	}
	f.agree(t)
	t.Logf("two kernels up in %v, all four in contact in %v", up.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	return f
}

// openOurs makes one of the stations a node of ours.
func (f *four) openOurs(t *testing.T, i int) {
	t.Helper()
	c, err := OpenCable("eth0", f.links[i])
	must(t, err)
	n, err := stack.Open(f.ctx, stack.Config{
		Bearers: []stack.Bearer{c}, Address: fourAddr(i), Tolerance: patient, Logger: slog.New(slog.NewTextHandler(logWriter{t}, nil)),
	})
	must(t, err)
	f.members[i] = &ourMember{ctx: f.ctx, node: n, sockets: map[int]*stack.PacketConn{}}
}

// boot makes one of the stations a kernel. It may run beside others.
func (f *four) boot(im *rig.Image, i int) error {
	m, err := newKernelMember(f.ctx, im, fourAddr(i), f.links[i])
	if err != nil {
		return err
	}
	f.members[i] = m
	return nil
}

// shut ends all: ours first, which say goodbye and want to be heard.
func (f *four) shut(t *testing.T) {
	for _, m := range f.members {
		if m, ok := m.(*ourMember); ok {
			m.shut(t)
		}
	}
	for _, m := range f.members {
		if m, ok := m.(*kernelMember); ok {
			m.guest.Close()
			if t.Failed() {
				t.Logf("console of %x:\n%s", uint32(m.node), m.guest.Console())
			}
		}
	}
	f.segment.Close()
	for _, l := range f.links {
		l.Close()
	}
}

// join has everybody expect a member.
func (f *four) join(t *testing.T, i int) {
	t.Helper()
	a := f.members[i].addr()
	r := stack.Range{Type: stack.NodeState, Lower: uint32(a), Upper: uint32(a)}
	f.promise(r, stack.SocketAddr{Node: a}, stack.ClusterScope, 1)
	f.ledgers[i] = f.members[i].watch(t, stack.NodeState, fourType, otherType, castType)
}

// promise enters bindings, or with a negative count withdrawals, in what is bound.
func (f *four) promise(r stack.Range, at stack.SocketAddr, scope stack.Scope, count int) {
	times := 1
	if count < 0 {
		times, count = -1, -count
	}
	for i := range count {
		x := bound{side(r, i), at}
		p := f.want[x]
		if p.scope, p.times = scope, p.times+times; p.times == 0 {
			delete(f.want, x)
		} else {
			f.want[x] = p
		}
	}
}

// bind binds a member's socket.
func (f *four) bind(t *testing.T, i, socket int, r stack.Range, scope stack.Scope, count int) stack.SocketAddr {
	t.Helper()
	at := f.members[i].bind(t, socket, r, scope, count)
	f.promise(r, at, scope, count)
	return at
}

// unbind takes back what bind did for the socket whose address is at.
func (f *four) unbind(t *testing.T, i, socket int, at stack.SocketAddr, r stack.Range, scope stack.Scope, count int) {
	t.Helper()
	f.members[i].unbind(t, socket, r, scope, count)
	f.promise(r, at, scope, -count)
}

// close closes a member's socket, whose address is at.
func (f *four) close(t *testing.T, i, socket int, at stack.SocketAddr) {
	t.Helper()
	f.members[i].close(t, socket)
	f.forget(func(x bound) bool { return x.Socket == at })
}

// forget takes out of what is bound all that gone says.
func (f *four) forget(gone func(bound) bool) {
	for x := range f.want {
		if gone(x) {
			delete(f.want, x)
		}
	}
}

// known is what a member must know: of node scope its own only.
func (f *four) known(i int, alsoOwn bool) bounds {
	all := bounds{}
	for x, p := range f.want {
		if p.scope == stack.ClusterScope || alsoOwn && x.Socket.Node == f.members[i].addr() {
			all[x] = p.times
		}
	}
	return all
}

// agree waits until subscribers at all members have been told of exactly what is
// bound, and returns when the last was.
func (f *four) agree(t *testing.T) (last time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, agreement)
	defer cancel()
	for i, l := range f.ledgers {
		if l == nil {
			continue // no more
		}
		at, err := l.until(ctx, f.known(i, true))
		if err != nil {
			t.Fatalf("at %x: %v", uint32(f.members[i].addr()), err)
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// tables compares all members' binding tables with what is bound.
func (f *four) tables(t *testing.T) {
	t.Helper()
	for i, m := range f.members {
		if f.ledgers[i] == nil {
			continue
		}
		if d := m.table(t).differ(f.known(i, false)); d != "" {
			t.Errorf("table of %x: %s", uint32(m.addr()), d)
		}
	}
}

// kill cuts a kernel's power; nobody expects anything of it any more. The others, whom nobody
// else would tell, are to notice soon.
func (f *four) kill(t *testing.T, i int) {
	t.Helper()
	a := f.members[i].addr()
	must(t, f.members[i].(*kernelMember).guest.Kill())
	f.ledgers[i] = nil
	for _, m := range f.members {
		if m.addr() != a {
			must(t, m.suspect(a))
		}
	}
	f.forget(func(x bound) bool { return x.Socket.Node == a })
}

// restart starts a kernel that was killed. Its sockets are new ones.
func (f *four) restart(t *testing.T, i int) {
	t.Helper()
	must(t, f.boot(rig.Require(t), i))
	f.join(t, i)
}

// isKernel reports whether a member is one.
func isKernel(i int) bool { return slices.Contains(kernels, i) }
