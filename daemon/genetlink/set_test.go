// SPDX-License-Identifier: Apache-2.0

package genetlink_test

import (
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

func nodeState(a stack.NodeAddr) stack.Service {
	return stack.Service{Type: stack.NodeState, Instance: uint32(a)}
}

// remotes are the hosts that a request names: none if it names a group.
func remotes(r admin.BearerRequest) (all []netip.AddrPort) {
	if r.RemoteIP.IsValid() && !r.RemoteIP.IsMulticast() {
		all = append(all, netip.AddrPortFrom(r.RemoteIP, r.RemotePort))
	}
	return all
}

// loopback is an address of this process as of struct sockaddr_in.
func loopback(host byte, port uint16) []byte {
	b := binary.BigEndian.AppendUint16(binary.NativeEndian.AppendUint16(nil, 2), port)
	pid := os.Getpid()
	return append(b, 127, byte(pid>>8), byte(pid), host, 0, 0, 0, 0, 0, 0, 0, 0)
}

func key(algorithm string, material string) []byte {
	b := make([]byte, 36)
	copy(b, algorithm)
	binary.NativeEndian.PutUint32(b[32:], uint32(len(material)))
	return append(b, material...)
}

// What a request changes is changed, and what it cannot change is refused as a kernel does.
//
// Mutations it catches: an attribute that is read as another; a refusal without its text; a
// number beyond 8 bits that is cut; a key whose length is not compared with what is there.
//
// Proves: plain.netlink
func TestChanges(t *testing.T) {
	h := hub.New(hub.Config{})
	n := open(t, h, own)
	other := open(t, h, peer)
	if err := n.WaitFor(context.Background(), nodeState(peer)); err != nil {
		t.Fatal(err)
	}
	_ = other
	link, eth, udpName := "1001001:eth0-1001002:eth0", text(1, "eth:eth0"), text(1, "udp:U1")
	ends := nest(4, attr(1, loopback(1, 0)), attr(2, loopback(2, 6118)))
	for _, x := range []struct {
		about string
		c     byte
		attrs []byte
		want  string
	}{
		{"disable what is not there", 2, nest(1, text(1, "eth:nope")), "22 Bearer not found"},
		{"disable nothing", 2, nil, "22"},
		{"enable again", 3, nest(1, eth), "22 Already enabled"},
		{"enable no medium", 3, nest(1, text(1, "eth0")), "22"},
		{"enable no device", 3, nest(1, text(1, "eth:nope")), "19 Failed to enable media"},
		{"enable with priority 256 + 10", 3, nest(1, eth, nest(2, word(1, 266))), "22"},
		{"enable UDP without addresses", 3, nest(1, udpName), "22"},
		{"enable UDP with half an address", 3, nest(1, udpName, nest(4, attr(1, loopback(1, 0)[:15]), attr(2, loopback(2, 1)))), "22"},
		{"enable UDP", 3, nest(1, udpName, nest(2, word(1, 8)), ends), "0"},
		{"its MTU", 5, nest(1, udpName, nest(2, word(4, 2000))), "0"},
		{"one more host", 21, nest(1, udpName, nest(4, attr(2, loopback(3, 6118)))), "0"},
		{"one more host, elsewhere", 21, nest(1, text(1, "udp:U2"), nest(4, attr(2, loopback(3, 6118)))), "22 Bearer not found"},
		{"one more host, without", 21, nest(1, udpName), "22"},
		{"a bearer's tolerance", 5, nest(1, eth, nest(2, word(2, 3000))), "0"},
		{"too high a priority", 5, nest(1, eth, nest(2, word(1, 32))), "22"},
		{"a link's tolerance", 9, nest(4, text(1, link), nest(7, word(2, 4000))), "0"},
		{"of no link", 9, nest(4, text(1, "nope"), nest(7, word(2, 4000))), "22"},
		{"the broadcast link's priority", 9, nest(4, text(1, "broadcast-link"), nest(7, word(1, 4))), "95"},
		{"its window", 9, nest(4, text(1, "broadcast-link"), nest(7, word(3, 60))), "0"},
		{"replicast", 9, nest(4, text(1, "broadcast-link"), nest(7, word(5, 2))), "0"},
		{"two methods", 9, nest(4, text(1, "broadcast-link"), nest(7, word(5, 3))), "22"},
		{"no share", 9, nest(4, text(1, "broadcast-link"), nest(7, word(5, 4), word(6, 0))), "22"},
		{"reset", 10, nest(4, text(1, link)), "0"},
		{"reset of no link", 10, nest(4, text(1, "nope")), "22"},
		{"a medium", 12, nest(5, text(1, "udp"), nest(2, word(2, 2500))), "0"},
		{"no medium", 12, nest(5, text(1, "foo"), nest(2, word(2, 2500))), "22 Media not found"},
		{"an MTU", 12, nest(5, text(1, "udp"), nest(2, word(4, 100))), "22 MTU value is out-of-range"},
		{"an address", 15, nest(7, word(2, 0x1001009)), "1"},
		{"a cluster's number", 15, nest(7, word(1, 4712)), "1"},
		{"half an identity", 15, nest(7, attr(3, make([]byte, 8))), "22"},
		{"an identity", 15, nest(7, attr(3, make([]byte, 8)), attr(4, make([]byte, 8))), "1"},
		{"a threshold", 17, nest(9, word(1, 20)), "0"},
		{"no threshold", 17, nil, "22"},
		{"remove who is there", 20, nest(7, word(2, uint32(peer))), "16"},
		{"remove who is not", 20, nest(7, word(2, 0x1001007)), "6"},
		{"remove an identity", 20, nest(7, attr(3, []byte("1001007\x00")), attr(4, make([]byte, 8))), "6"},
		{"remove nobody", 20, nil, "22"},
		// Behind what needs contact: a peer ends its link to take another priority.
		{"a bearer's window and priority", 5, nest(1, eth, nest(2, word(3, 100), word(1, 12))), "0"},
		{"no key", 23, nest(6), "61"},
		{"a short key", 23, nest(6, attr(4, key("gcm(aes)", "short"))), "129 incorrect key length (20, 28 or 36 octets?)"},
		{"half a key", 23, nest(6, attr(4, key("gcm(aes)", "0123456789abcdefsalt")[:50])), "22"},
		{"no cipher", 23, nest(6, attr(4, key("rot13", "0123456789abcdefsalt"))), "19 unable to load the algorithm (module existed?)"},
		{"a key of half a node", 23, nest(6, attr(4, key("gcm(aes)", "0123456789abcdefsalt")), attr(3, make([]byte, 15))), "22"},
		{"a key", 23, nest(6, attr(4, key("gcm(aes)", "0123456789abcdefsalt"))), "0"},
		{"new keys", 23, nest(6, word(6, 10)), "0"},
		{"new keys after the end of time", 23, nest(6, word(6, 1<<31)), "22"},
		{"flush", 24, nil, "0"},
		{"what there is not", 25, nil, "95"},
		{"what is only listed", 13, nil, "95"},
	} {
		if got := do(t, n, x.c, x.attrs); got != x.want {
			t.Errorf("%s: got %s, want %s", x.about, got, x.want)
		}
	}
	var bearers []string
	for _, m := range ask(t, n, list, 4, nil) {
		if m.typ == 3 {
			continue
		}
		b := netlink.Attribute(m.body[4:], 1)
		bearers = append(bearers, netlink.Text(b, 1))
		wish := netlink.Attribute(b, 2)
		got := []uint32{netlink.Number(wish, 1), netlink.Number(wish, 2), netlink.Number(wish, 3), netlink.Number(wish, 4)}
		want := []uint32{12, 3000, 100, 0}
		if len(bearers) == 2 {
			want = []uint32{8, uint32(patient.Milliseconds()), 8191, 2000}
			if ends := netlink.Attribute(b, 4); string(netlink.Attribute(ends, 2)) != string(loopback(2, 6118)) {
				t.Errorf("its ends: %x", ends)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", bearers[len(bearers)-1], got, want)
		}
	}
	if !slices.Equal(bearers, []string{"eth:eth0", "udp:U1"}) {
		t.Errorf("bearers: %q", bearers)
	}
	if all := ask(t, n, list, 22, nest(1, udpName)); len(all) != 2 || string(netlink.Attribute(all[0].body[4:], 2)) != string(loopback(2, 6118)) {
		t.Errorf("its remote: %v", all)
	}
	cast := netlink.Attribute(netlink.Attribute(ask(t, n, 0, 8, nest(4, text(1, "broadcast-link")))[0].body[4:], 4), 7)
	if netlink.Number(cast, 3) != 60 || netlink.Number(cast, 5) != 2 {
		t.Errorf("the broadcast link: %x", cast)
	}
	if got := do(t, n, 2, nest(1, udpName)); got != "0" {
		t.Errorf("disable UDP: %s", got)
	}
}
