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

// Programs of others, both of whose parts are on one node, print what they print in a guest with
// a kernel's TIPC, and the daemon's node has had to do with it. Mutations: the command is run
// without the library; own_name of the library says that none is ours; connect of the library
// reports that it is done whatever the daemon answers.
//
// Proves: plain.software
func TestOneNode(t *testing.T) {
	preload.NeedCompiler(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			p.needs(t)
			b := preload.NewBed(t, hub.New(hub.Config{}), 1)
			p.check(t, "with the library", "one", b.Run(t, p.command[0], append(p.command[1:], "one")...))
			counted(t, b, p.through)
		})
	}
}

// And so do those whose parts are on two nodes. Mutations: both parts have one node; messages of
// connections are not sent to other nodes.
//
// Proves: plain.software
func TestTwoNodes(t *testing.T) {
	preload.NeedCompiler(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			p.needs(t)
			network := hub.New(hub.Config{})
			beds := [2]*preload.Bed{preload.NewBed(t, network, 1), preload.NewBed(t, network, 2)}
			twoParts(t, &p, "with the library", func(ctx context.Context, i int, command []string) (string, error) {
				return beds[i].Output(ctx, command[0], command[1:]...)
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
		go func() {
			out[i], errs[i] = run(ctx, i, append(append([]string(nil), p.command...), parts[i]))
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
