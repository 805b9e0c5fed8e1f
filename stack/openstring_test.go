// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// opened opens a node from a text, and closes it when the test ends.
func opened(t *testing.T, text string) *stack.Node {
	t.Helper()
	n, err := stack.Config{Tolerance: steady}.OpenString(within(t), text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(within(t)); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return n
}

// What each text opens speaks with what another such text opens. The network number is said
// once: over UDP it is the multicast group's too.
//
// Mutations it catches: openMemory that makes a hub for each node; that gives every node
// 1001001; ParseConfig without the group; parse that gives the device DefaultNetID; OpenString
// that does not look at $UTIPC_NODE.
func TestOpenString(t *testing.T) {
	dir, pid := t.TempDir(), os.Getpid()
	// Addresses and a network number that no other process has.
	ip := func(i int) string { return fmt.Sprintf("127.%d.%d.%d", 32|pid>>14&31, pid>>6&255, pid<<2&255|i) }
	netID := uint32(1000 + pid%8000)
	group := udp.Group(netID, netip.MustParseAddr(ip(1))).Addr()
	for _, c := range []struct{ name, one, two string }{
		{"memory", "memory:", "memory:"},
		{"memory with a name", "memory:test?node=1.1.7&tolerance=20s", "memory:test?node=1001008"},
		{"UDP to others", fmt.Sprintf("udp:%s:16118,%s:16118?node=1.1.1", ip(1), ip(2)), fmt.Sprintf("udp:%s:16118,%s:16118?node=1.1.2", ip(2), ip(1))},
		{"UDP to a group", fmt.Sprintf("udp:%s?netid=%d&node=1.1.1&mtu=1472", ip(1), netID), fmt.Sprintf("udp:%s,%v?netid=%d&node=1.1.2&if=lo", ip(2), group, netID)},
		{"attached", "memory:daemon", "attach:" + filepath.Join(dir, "utipc.sock")},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := opened(t, c.one)
			if c.name == "attached" {
				h := serveOn(t, a, filepath.Join(dir, "utipc.sock"), daemon.Config{})
				t.Cleanup(func() { h.stop(t) })
			}
			t.Setenv("UTIPC_NODE", c.two)
			b := opened(t, "")
			if (a.Addr() == b.Addr()) != (c.name == "attached") {
				t.Errorf("got the nodes %v and %v", a.Addr(), b.Addr())
			}
			echo(t, listen(t, a, echoService))
			if err := b.WaitFor(within(t), echoService); err != nil {
				t.Fatal(err)
			}
			if i := strings.Index(c.one, "node=1.1.7"); i >= 0 && a.Addr() != 0x1001007 {
				t.Errorf("got node %v of %s", a.Addr(), c.one)
			}
		})
	}
}

// Nodes of different networks in memory, or of different numbers, do not meet.
//
// Mutations it catches: openMemory that looks up the empty name; parseNode that forgets netid.
func TestOpenStringApart(t *testing.T) {
	t.Parallel()
	name := stack.Service{Type: 18888, Instance: 99}
	one := opened(t, "memory:apart?netid=4712")
	same := opened(t, "memory:apart?netid=4712")
	others := []*stack.Node{opened(t, "memory:apart"), opened(t, "memory:elsewhere?netid=4712")}
	pc := listen(t, one, name)
	defer pc.Close()
	if id := must.Get(one.Admin().NetID(within(t))); id != 4712 {
		t.Errorf("got the network number %d, want 4712", id)
	}
	if err := same.WaitFor(within(t), name); err != nil { // by now the others would know it too
		t.Fatal(err)
	}
	for _, n := range others {
		if _, err := listen(t, n, nil).WriteTo([]byte("x"), name); !errors.Is(err, stack.ErrUnreachable) {
			t.Errorf("node %v: got %v, want %v", n.Addr(), err, stack.ErrUnreachable)
		}
	}
}

// Mutations it catches: any of the checks taken out; OpenString that leaves the Bearers of
// its Config open.
func TestOpenStringRefuses(t *testing.T) {
	t.Setenv("UTIPC_NODE", "")
	t.Setenv("UTIPC_SOCKET", filepath.Join(t.TempDir(), "none.sock"))
	for _, c := range []struct{ text, want string }{
		{"udp", "want SCHEME:PLACE"},
		{"tcp:127.0.0.1", "want one of attach, memory, "},
		{"eth:eth1", `import _ "github.com/utipc/utipc/xdp"`},
		{"udp:", "want IP[,TO...]"},
		{"udp:localhost", `"localhost"`},
		{"udp:127.0.0.1?mtu=big", "mtu="},
		{"udp:127.0.0.1?colour=red", `unknown option "colour"`},
		{"memory:?driver=auto", `unknown option "driver"`},
		{"memory:?netid=0", "1 to 9999"},
		{"memory:?netid=10000", "1 to 9999"},
		{"memory:?node=0", "1.1.2"},
		{"memory:?node=x", "node=x"},
		{"memory:?tolerance=1", "tolerance=1"},
		{"memory:?namewait=soon", "namewait=soon"},
		{"memory:?a;b", "semicolon"},
		{"attach:?node=1.1.1", `unknown option "node"`},
		{"attach:/nowhere/utipc.sock", "/nowhere/utipc.sock"},
		{"", "none.sock"},
	} {
		n, err := stack.OpenString(within(t), c.text)
		if err == nil {
			n.Close(within(t))
		}
		var op *net.OpError
		if err == nil || !errors.As(err, &op) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q in it", c.text, err, c.want)
		}
		if attaches := strings.HasSuffix(c.want, ".sock"); errors.Is(err, stack.ErrConfig) == attaches && !strings.HasPrefix(c.text, "udp:") {
			t.Errorf("%q: got %v, is it stack.ErrConfig: %t", c.text, err, !attaches)
		}
	}
	if _, err := (stack.Config{NetID: 4712}).OpenString(within(t), "attach:"); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("attached with a network number: got %v", err)
	}
	p := plug(t, hub.New(hub.Config{}), "eth0", 1)
	if _, err := (stack.Config{Bearers: []stack.Bearer{p}}).OpenString(within(t), "udp:"); err == nil {
		t.Error("no error")
	}
	if err := p.Attach(nil, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a bearer of what cannot be opened: got %v, want %v", err, net.ErrClosed)
	}
}
