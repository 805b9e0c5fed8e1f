// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/rig"
)

const (
	ourAddr    stack.NodeAddr = 0x1001001
	kernelAddr stack.NodeAddr = 0x1001002
)

var (
	ourMAC    = frame.MAC{0x52, 0x54, 0, 0, 0, 1}
	kernelMAC = frame.MAC{0x52, 0x54, 0, 0, 0, 2}
)

// patient is the tolerance of all links but those that a test is to see lost by silence:
// kernels keep real time, and they or this process may stand still for seconds where
// others want the machine too.
const patient = 20 * time.Second

// impatient is the tolerance that a link is given for its loss to be seen soon: the default.
const impatient = 1500 * time.Millisecond

// closeTime is how long a node that is closed waits for what it has to hand out.
const closeTime = time.Minute

// A bed is a node of ours and a kernel at two ends of a cable.
type bed struct {
	t      *testing.T
	ctx    context.Context
	cable  *Cable
	faults *fault.Injector
	link   rig.Link
	node   *stack.Node
	kernel *rig.Guest
	shut   func() // ends the node; it must, before the kernel that is to acknowledge what it says
}

// newBed makes the cable; openNode and boot plug in the two ends.
func newBed(t *testing.T, testTimeout time.Duration) *bed {
	t.Helper()
	rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	cable, link, err := NewCable(ourMAC, kernelMAC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	return &bed{t: t, ctx: ctx, cable: cable, faults: fault.New(cable, fault.Config{Seed: 1}), link: link, shut: func() {}}
}

// openNode makes our end of the cable a node.
func (b *bed) openNode(cfg stack.Config) {
	b.t.Helper()
	b.open(b.faults, cfg)
}

// open makes a device a node of ours.
func (b *bed) open(dev netdev.Device, cfg stack.Config) {
	b.t.Helper()
	cfg.Bearers = []stack.Bearer{dev}
	if cfg.Tolerance == 0 {
		cfg.Tolerance = patient
	}
	if cfg.Address == 0 && cfg.Identity == (stack.Identity{}) {
		cfg.Address = ourAddr
	}
	cfg.Logger = slog.New(slog.NewTextHandler(logWriter{b.t}, nil))
	n, err := stack.Open(b.ctx, cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.node = n
	b.shut = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := n.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
			b.t.Errorf("close: %v", err)
		}
		if s := musthave.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			b.t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
		}
	})
	b.t.Cleanup(b.shut)
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(p []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// boot starts a kernel at the other end.
func (b *bed) boot() {
	b.t.Helper()
	g, err := rig.Start(b.ctx, rig.Require(b.t), rig.Options{
		Name: "kernel", Address: "1.1.2", Links: []rig.Link{b.link}, Enable: true, Tolerance: patient,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.kernel = g
	b.t.Cleanup(func() {
		if b.kernel == g {
			b.shut()
		}
		g.Close()
		if b.t.Failed() {
			b.t.Logf("console:\n%s", g.Console())
		}
	})
	b.t.Logf("kernel %s", g.Release())
}

// linked is a bed with both ends up and in contact.
func linked(t *testing.T, testTimeout time.Duration) *bed {
	b := newBed(t, testTimeout)
	b.openNode(stack.Config{})
	b.boot()
	b.contact()
	return b
}

// kill cuts the kernel's power, and has our node notice soon: nobody else would tell it.
func (b *bed) kill() {
	b.t.Helper()
	must(b.t, b.kernel.Kill())
	must(b.t, b.node.Admin().SetLink(b.ctx, kernelAddr, "eth0", stack.LinkConfig{Tolerance: impatient}))
}

// contact waits until each end knows the other.
func (b *bed) contact() {
	b.t.Helper()
	b.ours(nodeState(kernelAddr))
	if err := b.kernel.WaitNode(b.ctx, uint32(ourAddr)); err != nil {
		b.t.Fatal(err)
	}
}

func nodeState(a stack.NodeAddr) stack.Service {
	return stack.Service{Type: stack.NodeState, Instance: uint32(a)}
}

// ours waits until our node knows a service.
func (b *bed) ours(s stack.Service) {
	b.t.Helper()
	if err := b.node.WaitFor(b.ctx, s); err != nil {
		b.t.Fatalf("waiting for %v: %v", s, err)
	}
}

// theirs waits until the kernel knows a service.
func (b *bed) theirs(s stack.Service) {
	b.t.Helper()
	if err := b.kernel.WaitName(b.ctx, s.Type, s.Instance, s.Instance); err != nil {
		b.t.Fatalf("waiting for the kernel to know %v: %v", s, err)
	}
}

// run gives the kernel a command.
func (b *bed) run(format string, a ...any) string {
	b.t.Helper()
	cmd := fmt.Sprintf(format, a...)
	out, err := b.kernel.Run(b.ctx, cmd)
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return out
}

// job starts a program in the kernel's world and waits until it is ready.
func (b *bed) job(args ...string) (j *rig.Job, addr stack.SocketAddr) {
	b.t.Helper()
	j, err := b.kernel.Job(b.ctx, append([]string{"peer"}, args...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	line, err := j.Expect(b.ctx, "ready")
	if err != nil {
		b.t.Fatal(err)
	}
	if _, id, ok := strings.Cut(line, "id="); ok {
		node, port, _ := strings.Cut(strings.Fields(id)[0], ":")
		a, err := stack.ParseAddr("<" + node + ":" + port + ">")
		if err != nil {
			b.t.Fatal(err)
		}
		addr = a.(stack.SocketAddr)
	}
	return j, addr
}

// expect waits for a line of a job.
func (b *bed) expect(j *rig.Job, text string) string {
	b.t.Helper()
	line, err := j.Expect(b.ctx, text)
	if err != nil {
		b.t.Fatal(err)
	}
	return line
}

// listen makes a socket of ours with a deadline.
func (b *bed) listen(c stack.SocketConfig, addr net.Addr) *stack.PacketConn {
	b.t.Helper()
	p, err := c.ListenPacket(b.ctx, b.node, "tipcrdm", addr)
	if err != nil {
		b.t.Fatal(err)
	}
	until, _ := b.ctx.Deadline()
	p.SetDeadline(until)
	b.t.Cleanup(func() { p.Close() })
	return p
}

// echoed serves an echo on a name of ours until the test ends.
func (b *bed) echoed(addr net.Addr) *stack.PacketConn {
	p := b.listen(stack.SocketConfig{}, addr)
	go func() {
		buf := make([]byte, 66000)
		for {
			n, from, err := p.ReadFrom(buf)
			if err != nil {
				return
			}
			p.WriteTo(buf[:n], from)
		}
	}()
	return p
}
