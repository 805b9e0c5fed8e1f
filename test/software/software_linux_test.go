// SPDX-License-Identifier: Apache-2.0

package software

import (
	"context"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
)

func TestMain(m *testing.M) { preload.Main(m) }

// counted checks that a node has had to do with what a program did.
func counted(t *testing.T, b *preload.Bed, through map[uint32]least) {
	t.Helper()
	all, err := b.Node.Admin().ServiceStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint32]least{}
	for _, s := range all {
		found[s.Type] = least{s.Connections, s.MessagesIn}
	}
	for typ, want := range through {
		if got := found[typ]; got.connections < want.connections || got.messages < want.messages {
			t.Errorf("type %d: the daemon's node counts %+v, want %+v or more", typ, got, want)
		}
	}
}

// each runs a test of each program in each way.
func each(t *testing.T, test func(t *testing.T, p *program, how string)) {
	preload.NeedCompiler(t)
	for _, p := range programs {
		for _, how := range p.hows {
			t.Run(p.name+"/"+how, func(t *testing.T) {
				p.needs(t, p.path(t))
				test(t, &p, how)
			})
		}
	}
}

// Programs of others, both of whose parts are on one node, print what they print in a guest with
// a kernel's TIPC, and the daemon's node has had to do with it: with the library and with the
// supervisor. Mutations: need of cmd/utipc takes no notice of a program in Go; own_name of the library
// says that none is ours; look of the supervisor does; receiveEnd of that returns 0 after a shutdown.
//
// Proves: plain.software, plain.supervised
func TestOneNode(t *testing.T) {
	each(t, func(t *testing.T, p *program, how string) {
		b := preload.NewBed(t, hub.New(hub.Config{}), 1)
		out, err := b.UtipcRun(t.Context(), how, p.command(t, "one")...)
		if err != nil {
			t.Error(err)
		}
		p.check(t, how, "one", out)
		counted(t, b, p.through)
	})
}

// And so do those whose parts are on two nodes. Mutation: send of daemon/plain writes what TryWrite takes of
// a stream, and no more.
//
// Proves: plain.software, plain.supervised
func TestTwoNodes(t *testing.T) {
	each(t, func(t *testing.T, p *program, how string) {
		network := hub.New(hub.Config{})
		beds := [2]*preload.Bed{preload.NewBed(t, network, 1), preload.NewBed(t, network, 2)}
		twoParts(t, p, how, func(ctx context.Context, i int, command []string) (string, error) {
			return beds[i].UtipcRun(ctx, how, command...)
		})
		for i, b := range beds {
			half := map[uint32]least{}
			for typ, l := range p.through {
				half[typ] = least{connections: l.connections / 2}
			}
			counted(t, b, half)
			s, err := b.Node.Admin().Stats(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if s.MessagesIn == 0 || s.MessagesOut == 0 {
				t.Errorf("node %d: %d messages came from the other, %d went there", i, s.MessagesIn, s.MessagesOut)
			}
		}
	})
}

// twoParts has a program serve on node 0, and be used on node 1.
func twoParts(t *testing.T, p *program, where string, run func(ctx context.Context, i int, command []string) (string, error)) {
	t.Helper()
	parts := [2]string{"serve", "use"}
	var out [2]string
	var errs [2]error
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 2)
	for i := range parts {
		command := p.command(t, parts[i])
		go func() {
			out[i], errs[i] = run(ctx, i, command)
			if errs[i] != nil {
				cancel() // the other part would wait for this one
			}
			done <- i
		}()
	}
	<-done
	<-done
	for i := range parts {
		if errs[i] != nil {
			t.Errorf("%s %s, %s: %v", p.name, parts[i], where, errs[i])
		}
		p.check(t, where, parts[i], out[i])
	}
}
