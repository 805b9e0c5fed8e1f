// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// company is two nodes in a bubble, between which a link is up.
func company(t *testing.T, f func(t *testing.T, a, b *stack.Node)) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		var nodes [2]*stack.Node
		for i := range nodes {
			n, err := stack.Open(t.Context(), stack.Config{
				NoBearers: true, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep, Chunks: 1024, Encryption: sealedWith,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Admin().AddDevice(t.Context(), plug(t, h, "eth0", i+1), admin.BearerConfig{}); err != nil {
				t.Fatal(err)
			}
			nodes[i] = n
			defer n.Close(context.Background())
		}
		<-time.After(2 * time.Second)
		f(t, nodes[0], nodes[1])
	})
}

const linkAB = "1001001:eth0-1001002:eth0"

// What tipc(8) may set of links, bearers and media, and what a kernel answers to what it
// may not. Source: docs/spec/10-management.md.
//
// Proves: tools.tipc
func TestProperties(t *testing.T) {
	company(t, func(t *testing.T, a, b *stack.Node) {
		of := map[string]struct {
			get, set string
		}{
			"link":   {"link-property", "set-link-property"},
			"bearer": {"bearer-property", "set-bearer-property"},
			"media":  {"medium-property", "set-medium-property"},
		}
		do := func(verb, name string, p control.Property, value int, out any) error {
			return a.Admin().Call(context.Background(), verb, control.PropertyParams{Name: name, Property: p, Value: value}, out)
		}
		const get = -1
		for _, c := range []struct {
			of, name string
			p        control.Property
			set      int
			want     any // an int that is read, or the errno
		}{
			{"link", linkAB, "priority", get, 10},
			{"link", linkAB, "tolerance", get, 1500},
			{"link", linkAB, "window", get, 50},
			{"link", linkAB, "tolerance", 49, syscall.EINVAL},
			{"link", linkAB, "tolerance", 30001, syscall.EINVAL},
			{"link", linkAB, "tolerance", 2000, 2000},
			{"link", linkAB, "window", 20, syscall.EINVAL},
			{"link", linkAB, "window", 8192, syscall.EINVAL},
			{"link", linkAB, "window", 60, 50}, // the present one moves when it is used
			{"link", linkAB, "priority", 32, syscall.EINVAL},
			{"link", linkAB, "mtu", 1000, syscall.EOPNOTSUPP},
			{"link", linkAB, "mtu", get, syscall.EOPNOTSUPP},
			{"link", linkAB, "colour", get, syscall.EINVAL},
			{"link", "nobody", "window", get, syscall.EINVAL},
			{"link", "nobody", "window", 100, syscall.EINVAL},
			{"link", "", "window", 100, syscall.EINVAL},
			{"link", "broadcast-link", "window", get, 50},
			{"link", "broadcast-link", "window", 100, 100},
			{"link", "broadcast-link", "priority", 5, syscall.EINVAL},
			{"link", "broadcast-link", "tolerance", 500, syscall.EINVAL},

			{"bearer", "eth0", "priority", get, 10},
			{"bearer", "eth:eth0", "tolerance", get, 1500},
			{"bearer", "eth0", "window", get, 50},
			{"bearer", "eth0", "window", 100, 100},
			{"bearer", "eth0", "tolerance", 800, 800},
			{"bearer", "eth0", "priority", 33, syscall.EINVAL},
			{"bearer", "eth0", "mtu", get, syscall.EOPNOTSUPP},
			{"bearer", "eth0", "mtu", 1000, syscall.EOPNOTSUPP},
			{"bearer", "eth1", "window", get, syscall.EINVAL},
			{"bearer", "udp:eth0", "window", get, syscall.EINVAL},
			{"bearer", "eth1", "window", 100, syscall.EINVAL},

			{"media", "eth", "priority", get, 10},
			{"media", "eth", "priority", 12, 12},
			{"media", "eth", "tolerance", 900, 900},
			{"media", "eth", "window", 4000, 4000},
			{"media", "eth", "mtu", get, syscall.EOPNOTSUPP},
			{"media", "udp", "mtu", get, 14000},
			{"media", "udp", "mtu", 1400, 1400},
			{"media", "udp", "mtu", 65000, syscall.EINVAL}, // more than there is memory for
			{"media", "ib", "priority", get, syscall.EINVAL},
			{"media", "ib", "priority", 3, syscall.EINVAL},
		} {
			what := fmt.Sprintf("%s %s %s %d", c.of, c.name, c.p, c.set)
			var err error
			if c.set != get {
				err = do(of[c.of].set, c.name, c.p, c.set, nil)
			}
			var got int
			if err == nil {
				err = do(of[c.of].get, c.name, c.p, 0, &got)
			}
			switch want := c.want.(type) {
			case int:
				if err != nil || got != want {
					t.Errorf("%s: got %d, %v, want %d", what, got, err, want)
				}
			case syscall.Errno:
				if !errors.Is(err, want) || stack.Errno(err) != want {
					t.Errorf("%s: got %d, %v, want %v", what, got, err, want)
				}
			}
		}
		long := strings.Repeat("x", 60000)
		for what, err := range map[string]error{
			"link": do("set-link-property", long, "window", 100, nil), "property": do("set-link-property", linkAB, control.Property(long), 100, nil),
			"bearer": do("set-bearer-property", long, "window", 100, nil), "medium": do("set-medium-property", long, "window", 100, nil),
			"method": a.Admin().SetBroadcastMethod(context.Background(), admin.BroadcastMethod{Method: long}), "statistics": a.Admin().ResetStatistics(context.Background(), long),
		} {
			if !errors.Is(err, syscall.EINVAL) || len(err.Error()) > 300 {
				t.Errorf("a %s of %d bytes: got %.400v", what, len(long), err)
			}
		}
		<-time.After(5 * time.Second) // the peer was told
		l := must.Get(b.Admin().Links(context.Background()))
		if len(l) != 1 || l[0].Tolerance != 800*time.Millisecond || !l[0].Active {
			t.Errorf("the other end: got %+v", l)
		}
		if err := do("set-link-property", linkAB, control.PropertyPriority, 15, nil); err != nil {
			t.Error(err)
		}
		<-time.After(5 * time.Second) // which began the link anew
		if l := must.Get(b.Admin().Links(context.Background())); len(l) != 1 || l[0].Priority != 15 || !l[0].Active {
			t.Errorf("the other end: got %+v", l)
		}
		if err := a.Admin().AddDevice(t.Context(), plug(t, hub.New(hub.Config{}), "eth1", 1), admin.BearerConfig{}); err != nil {
			t.Fatal(err)
		}
		if c := must.Get(a.Admin().Bearers(context.Background()))[1].Links; c.Priority != 12 || c.Tolerance != 900*time.Millisecond || c.MaxWindow != 4000 {
			t.Errorf("a bearer enabled after media set: got %+v", c)
		}
	})
}

// Proves: tools.tipc
func TestBroadcastMethod(t *testing.T) {
	company(t, func(t *testing.T, a, b *stack.Node) {
		for _, c := range []struct {
			set, want admin.BroadcastMethod
			fails     bool
		}{
			{admin.BroadcastMethod{}, admin.BroadcastMethod{Method: "AUTOSELECT", Ratio: 10}, true},
			{admin.BroadcastMethod{Method: "AUTOSELECT", Ratio: 25}, admin.BroadcastMethod{Method: "AUTOSELECT", Ratio: 25}, false},
			{admin.BroadcastMethod{Method: "REPLICAST", Ratio: 0}, admin.BroadcastMethod{Method: "REPLICAST", Ratio: 25}, false},
			{admin.BroadcastMethod{Method: "AUTOSELECT", Ratio: 101}, admin.BroadcastMethod{Method: "REPLICAST", Ratio: 25}, true},
			{admin.BroadcastMethod{Method: "broadcast", Ratio: 0}, admin.BroadcastMethod{Method: "REPLICAST", Ratio: 25}, true},
			{admin.BroadcastMethod{Method: "BROADCAST", Ratio: 0}, admin.BroadcastMethod{Method: "BROADCAST", Ratio: 25}, false},
		} {
			err := a.Admin().SetBroadcastMethod(context.Background(), c.set)
			if got := must.Get(a.Admin().BroadcastMethod(context.Background())); got != c.want || (err != nil) != c.fails || c.fails && !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%v: got %v, %v, want %v", c.set, got, err, c.want)
			}
		}
		sink := listen(t, b, stack.Range{Type: 18888, Lower: 0, Upper: 9})
		defer sink.Close()
		if err := a.WaitFor(within(t), stack.Service{Type: 18888, Instance: 5}); err != nil {
			t.Fatal(err)
		}
		c := listen(t, a, nil)
		defer c.Close()
		for _, method := range []string{"BROADCAST", "REPLICAST", "BROADCAST"} {
			if err := a.Admin().SetBroadcastMethod(context.Background(), admin.BroadcastMethod{Method: method}); err != nil {
				t.Fatal(err)
			}
			before := must.Get(a.Admin().Stats(context.Background()))
			if _, err := c.WriteTo([]byte("all"), stack.Range{Type: 18888, Lower: 5, Upper: 5}); err != nil {
				t.Fatal(err)
			}
			after := must.Get(a.Admin().Stats(context.Background()))
			byCopies := after.Replicasts - before.Replicasts
			if want := method == "REPLICAST"; byCopies == 1 != want {
				t.Errorf("%s: got %d copies, %d broadcasts", method, byCopies, after.Broadcasts-before.Broadcasts)
			}
		}
	})
}

// A peer that is lost stays in the lists until somebody takes it out, or for 300 s.
//
// Proves: contact.late
func TestRemovePeer(t *testing.T) {
	for _, by := range []string{"address", "identity", "time"} {
		company(t, func(t *testing.T, a, b *stack.Node) {
			addr, id := b.Addr(), b.Identity()
			if err := a.Admin().RemovePeer(context.Background(), addr); !errors.Is(err, syscall.EBUSY) {
				t.Errorf("remove one that is up: got %v, want %v", err, syscall.EBUSY)
			}
			if err := a.Admin().RemovePeerIdentity(context.Background(), id); !errors.Is(err, syscall.ENXIO) { // as 6.1.176 answers
				t.Errorf("remove one that is up by identity: got %v, want %v", err, syscall.ENXIO)
			}
			if err := a.Admin().RemovePeer(context.Background(), 0x1001009); !errors.Is(err, syscall.ENXIO) {
				t.Errorf("remove one not known: got %v, want %v", err, syscall.ENXIO)
			}
			if err := a.Admin().RemovePeer(context.Background(), a.Addr()); !errors.Is(err, syscall.ENXIO) {
				t.Errorf("remove oneself: got %v, want %v", err, syscall.ENXIO)
			}
			b.Close(t.Context())
			<-time.After(200 * time.Second)
			if l, p := must.Get(a.Admin().Links(context.Background())), must.Get(a.Admin().Peers(context.Background())); len(l) != 1 || l[0].Up || l[0].Name != linkAB || len(p) != 1 || p[0].Up {
				t.Errorf("after 200 s: got %+v, %+v, want one link and one peer, down", l, p)
			}
			var err error
			switch by {
			case "address":
				err = a.Admin().RemovePeer(context.Background(), addr)
			case "identity":
				err = a.Admin().RemovePeerIdentity(context.Background(), id)
			case "time":
				<-time.After(2 * time.Minute)
			}
			if l, p := must.Get(a.Admin().Links(context.Background())), must.Get(a.Admin().Peers(context.Background())); err != nil || len(l) != 0 || len(p) != 0 {
				t.Errorf("removed by %s: got %+v, %+v, %v, want none", by, l, p, err)
			}
			if err := a.Admin().RemovePeer(context.Background(), addr); !errors.Is(err, syscall.ENXIO) {
				t.Errorf("again: got %v, want %v", err, syscall.ENXIO)
			}
		})
	}
}

// Proves: tools.tipc
func TestResetStatistics(t *testing.T) {
	company(t, func(t *testing.T, a, b *stack.Node) {
		sink := listen(t, a, stack.Service{Type: 18888, Instance: 1}) // of which the other hears
		sink.Close()
		own := listen(t, b, stack.Service{Type: 18889, Instance: 1})
		defer own.Close()
		if err := a.WaitFor(within(t), stack.Service{Type: 18889, Instance: 1}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		sum := func() (s [3]uint64) {
			s[0] = must.Get(a.Admin().Links(context.Background()))[0].RecvStates
			s[1] = must.Get(a.Admin().BroadcastLink(context.Background())).SentPackets
			for _, r := range must.Get(a.Admin().Receptions(context.Background())) {
				s[2] += r.Received
			}
			return s
		}
		if s := sum(); s[0] == 0 || s[1] == 0 || s[2] == 0 {
			t.Fatalf("nothing was counted: %v", s)
		}
		if r := must.Get(a.Admin().Receptions(context.Background())); len(r) != 1 || r[0].Name != "broadcast-link:1001002" {
			t.Fatalf("got %+v", r)
		}
		for i, name := range []string{linkAB, "broadcast-link", "broadcast-link:1001002"} {
			if err := a.Admin().ResetStatistics(context.Background(), name); err != nil {
				t.Error(err)
			}
			if s := sum(); s[i] != 0 {
				t.Errorf("%s: got %v", name, s)
			}
		}
		if err := a.Admin().ResetStatistics(context.Background(), "nobody"); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("got %v, want %v", err, syscall.EINVAL)
		}
	})
}

// A bearer of another domain is deaf to who is not of it.
//
// Proves: tools.tipc
func TestBearerDomain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		open := func(i int, a, domain stack.NodeAddr) *stack.Node {
			n, err := stack.Open(t.Context(), stack.Config{NoBearers: true, Address: a, Wait: stack.Sleep, Chunks: 1024})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Admin().AddDevice(t.Context(), plug(t, h, "eth0", i), admin.BearerConfig{Domain: domain}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		n := open(1, 0x1001001, 0x1001000)
		defer n.Close(context.Background())
		near := open(2, 0x1001002, 0)
		defer near.Close(context.Background())
		remote := open(3, 0x1002003, 0)
		defer remote.Close(context.Background())
		<-time.After(3 * time.Second)
		if p := must.Get(n.Admin().Peers(context.Background())); len(p) != 1 || p[0].Node != 0x1001002 {
			t.Errorf("got peers %+v, want 1001002 alone", p)
		}
		if p := must.Get(near.Admin().Peers(context.Background())); len(p) != 2 {
			t.Errorf("got peers %+v, want two", p)
		}
	})
}

// SetMedium changes the fields that are given, or, when one of them cannot be, none. Mutation:
// SetMedium keeps what it changed before an error.
//
// Proves: tools.tipc
func TestSetMedium(t *testing.T) {
	company(t, func(t *testing.T, a, _ *stack.Node) {
		eth := func() admin.MediumConfig { return must.Get(a.Admin().Media(context.Background()))[0] }
		want := eth()
		want.Priority, want.Window = 12, 60
		if err := a.Admin().SetMedium(context.Background(), "eth", admin.MediumConfig{Priority: 12, Window: 60}); err != nil || eth() != want {
			t.Errorf("got %+v, %v, want %+v", eth(), err, want)
		}
		for _, c := range []struct {
			name string
			set  admin.MediumConfig
			want syscall.Errno
		}{
			{"eth", admin.MediumConfig{Priority: 13, MTU: 1400}, syscall.EOPNOTSUPP},
			{"eth", admin.MediumConfig{Priority: 13, Tolerance: 49 * time.Millisecond}, syscall.EINVAL},
			{"ib", admin.MediumConfig{Priority: 13}, syscall.EINVAL},
		} {
			if err := a.Admin().SetMedium(context.Background(), c.name, c.set); !errors.Is(err, c.want) || eth() != want {
				t.Errorf("%s, %+v: got %+v, %v, want %v and no change", c.name, c.set, eth(), err, c.want)
			}
		}
	})
}
