// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/rig"
)

// groupSays gives the kernel's member a command, and checks what it says to that.
func groupSays(b *bed, j *rig.Job, command, want string) {
	b.t.Helper()
	if err := j.Send(command); err != nil {
		b.t.Fatal(err)
	}
	if line := b.expect(j, ""); line != want {
		b.t.Errorf("%s: the kernel says %q, want %q", command, line, want)
	}
}

// A kernel is the member that does not read, under each policy: it never hangs, gets what
// it should, in order, and is a member like others when it reads again.
func TestGroupKernelIsSlow(t *testing.T) {
	b := linked(t, time.Minute)
	for i, policy := range []stack.SlowPolicy{stack.Strict, stack.Lag, stack.DropOldest} {
		team := stack.Service{Type: 4242 + uint32(i), Instance: 1}
		x, err := stack.GroupConfig{Policy: policy, Limit: 10}.Join(b.ctx, b.node, team)
		if err != nil {
			t.Fatal(err)
		}
		team.Instance = 3
		y, err := b.node.Join(b.ctx, team)
		if err != nil {
			t.Fatal(err)
		}
		j, kernel := b.job("group", fmt.Sprint(team.Type), "2")
		kernel.Net = "tipcrdm"
		for _, g := range []*stack.Group{x, y} {
			if err := g.WaitMembers(b.ctx, 2); err != nil {
				t.Fatal(err)
			}
			g.SetReadDeadline(time.Now().Add(30 * time.Second))
		}
		buf := make([]byte, 100)
		next := 0
		write := func() error {
			x.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
			if _, err := x.Write(fmt.Append(nil, next)); err != nil {
				return err
			}
			if n, _, err := y.ReadFrom(buf); err != nil || string(buf[:n]) != fmt.Sprint(next) {
				t.Fatalf("policy %d: ours read %q, %v, want %d", policy, buf[:n], err, next)
			}
			next++
			return nil
		}
		for next < 300 {
			if err = write(); err != nil {
				break
			}
		}
		var blocked *stack.BlockedError
		if policy == stack.Strict {
			if !errors.As(err, &blocked) || blocked.Peer != kernel || next != 65 {
				t.Errorf("after %d: got %v", next, err)
			}
			groupSays(b, j, "read 300", "read count=65 first=0 last=64 gaps=0 up=2 down=0")
			for next < 300 {
				if err := write(); err != nil {
					t.Fatal(err)
				}
			}
			groupSays(b, j, "read 300", "read count=235 first=65 last=299 gaps=0 up=0 down=0")
		} else if err != nil {
			t.Fatalf("policy %d: after %d: %v", policy, next, err)
		}
		want := stack.MemberEvicted
		switch policy {
		case stack.Lag:
			groupSays(b, j, "read 300", "read count=65 first=0 last=64 gaps=0 up=2 down=1")
		case stack.DropOldest:
			want = stack.MemberDropping
			groupSays(b, j, "read 300", "read count=75 first=0 last=299 gaps=1 up=2 down=0")
			for range 100 {
				if err := write(); err != nil {
					t.Fatal(err)
				}
			}
			groupSays(b, j, "read 300", "read count=100 first=300 last=399 gaps=0 up=0 down=0")
			if m := x.Members(); m[len(m)-1].Behind+m[0].Behind != 0 {
				t.Errorf("got %+v", m)
			}
		}
		if policy != stack.Strict {
			if _, m, err := x.ReadMsg(buf); err != nil || m.Kind != want || m.From != kernel {
				t.Errorf("policy %d: ours was told %+v, %v", policy, m, err)
			}
		}
		groupSays(b, j, "send hello", "sent")
		to := []*stack.Group{x, y}
		if policy == stack.Lag {
			to = to[1:] // it sent x away
		}
		for _, g := range to {
			if n, from, err := g.ReadFrom(buf); err != nil || string(buf[:n]) != "hello" || from != kernel {
				t.Errorf("policy %d: from the kernel ours read %q, %v", policy, buf[:n], err)
			}
		}
		x.Close()
		y.Close()
		j.Kill()
	}
}
