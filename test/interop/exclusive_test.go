// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// A name that a kernel's socket is bound to cannot be had alone, and one that is held alone is lost when a
// kernel binds it: the kernel is told of no claim and binds all the same. Afterwards each node has the
// kernel's binding and no other, and when that is gone the name can be had again.
//
// Mutations it catches: BindExclusive does not look at the table; contest passes over bindings that are not
// exclusive; a binding that gives way is not withdrawn from the others.
func TestExclusiveBesideKernel(t *testing.T) {
	b := linked(t, 15*time.Minute)
	alone := stack.SocketConfig{Exclusive: true}
	j, theirs := b.job("rdm-echo", "18889", "4", "-q")
	b.ours(kernelService)
	var taken *stack.NameTakenError
	if _, err := alone.ListenPacket(b.ctx, b.node, "tipcrdm", kernelService); !errors.As(err, &taken) || taken.By != theirs || taken.Exclusive || taken.Lost {
		t.Errorf("a name that the kernel has: %v", err)
	}
	name := stack.Service{Type: 18889, Instance: 5}
	wide := stack.Range{Type: name.Type, Lower: name.Instance, Upper: name.Instance + 4}
	held := b.listen(alone, wide)
	b.theirs(name)
	other, theirs := b.job("rdm-echo", "18889", "7", "-q") // within wide
	if _, _, err := held.ReadFrom(nil); !errors.As(err, &taken) || !errors.Is(err, stack.ErrNameTaken) ||
		taken.Name != wide || taken.By != theirs || taken.Exclusive || !taken.Lost {
		t.Errorf("the kernel binds a name that is held: %v", err)
	}
	kernel := &kernelMember{ctx: b.ctx, guest: b.kernel, node: kernelAddr}
	for len(overlapping(kernel.table(t), wide)) != 1 && b.ctx.Err() == nil { // it hears of the withdrawal later
		runtime.Gosched()
	}
	us := &ourMember{ctx: b.ctx, node: b.node}
	for _, m := range []member{kernel, us} {
		rows := overlapping(m.table(t), wide)
		if len(rows) != 1 || rows[0].Socket != theirs {
			t.Errorf("node %v has %v, want that of %v alone", m.addr(), rows, theirs)
		}
	}
	for _, j := range []interface{ Kill() error }{j, other} {
		must(t, j.Kill())
	}
	for len(overlapping(us.table(t), wide)) != 0 && b.ctx.Err() == nil {
		runtime.Gosched()
	}
	b.listen(alone, wide)
	b.theirs(name)
}

// overlapping are the bindings that overlap a range.
func overlapping(all bounds, r stack.Range) (some []bound) {
	for x := range all {
		if x.Range.Type == r.Type && x.Range.Lower <= r.Upper && r.Lower <= x.Range.Upper {
			some = append(some, x)
		}
	}
	return some
}
