// SPDX-License-Identifier: Apache-2.0

package genetlink_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon/genetlink"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
)

const (
	own, peer stack.NodeAddr = 0x1001001, 0x1001002

	timeout = 2 * time.Minute
	patient = 20 * time.Second // tolerance: this process may stand still for seconds

	list, ack = 0x300, 4 // flags of a request
	port      = 4242
	number    = 99 // of each request
)

// open opens a node on a hub, which opens bearers over UDP when it is asked for them.
func open(t testing.TB, h *hub.Hub, addr stack.NodeAddr) *stack.Node {
	t.Helper()
	dev, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(addr)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(context.Background(), stack.Config{
		Bearers: []stack.Bearer{dev}, Address: addr, Tolerance: patient, MaxWindow: 8191, MTU: 14000,
		OpenBearer: func(_ context.Context, r admin.BearerRequest) (netdev.Device, error) {
			if r.Medium != "udp" {
				return nil, syscall.ENODEV
			}
			return udp.Open(udp.Config{Name: r.Name, Local: netip.AddrPortFrom(r.LocalIP, 0), Remotes: remotes(r)})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		n.Close(ctx)
	})
	return n
}

// A message is what came.
type message struct {
	typ, flags uint16
	body       []byte
}

// parse splits a datagram into messages, each of which is for the socket.
func parse(t testing.TB, b []byte) (all []message) {
	t.Helper()
	for len(b) > 0 {
		m, rest, ok := netlink.Next(b)
		if !ok || m.Cut {
			t.Fatalf("no message: %x", b)
		}
		if n, p := binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:]); n != number || p != port {
			t.Fatalf("number %d, port %d: want %d, %d", n, p, number, port)
		}
		all = append(all, message{m.Type, binary.NativeEndian.Uint16(b[6:]), m.Body})
		b = rest
	}
	return all
}

func request(typ uint16, flags uint16, c byte, attrs []byte) []byte {
	b := netlink.AppendRequest(nil, typ, flags, append([]byte{c, 1, 0, 0}, attrs...))
	binary.NativeEndian.PutUint32(b[8:], number)
	return b
}

// ask makes a request of a node, with texts behind errors, and returns the answer.
func ask(t testing.TB, n genetlink.Node, flags uint16, c byte, attrs []byte) (all []message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	s := genetlink.Socket{Port: port, Capped: true, Texts: true, Write: func(b []byte) error {
		all = append(all, parse(t, b)...)
		return nil
	}}
	if err := s.Serve(ctx, n, request(genetlink.FamilyID, flags, c, attrs)); err != nil {
		t.Fatal(err)
	}
	return all
}

// do makes a request that has only an acknowledgement, and returns that: an errno, and a text.
func do(t testing.TB, n genetlink.Node, c byte, attrs []byte) string {
	t.Helper()
	all := ask(t, n, ack, c, attrs)
	last := all[len(all)-1]
	if last.typ != 2 {
		t.Fatalf("command %d: the last message is of type %d", c, last.typ)
	}
	errno := syscall.Errno(-int32(binary.NativeEndian.Uint32(last.body)))
	if text := netlink.Text(last.body[20:], 1); text != "" {
		return fmt.Sprintf("%d %s", errno, text)
	}
	return fmt.Sprint(int(errno))
}

func attr(typ uint16, v []byte) []byte { return netlink.AppendAttribute(nil, typ, v) }

func word(typ uint16, v uint32) []byte { return attr(typ, binary.NativeEndian.AppendUint32(nil, v)) }

func text(typ uint16, s string) []byte { return attr(typ, append([]byte(s), 0)) }

func nest(typ uint16, in ...[]byte) []byte { return attr(typ|0x8000, slices.Concat(in...)) }

// shape is the types of attributes, those within others in brackets. nested has the types that
// have others in them, by the path to them.
func shape(b []byte, path string, nested ...string) string {
	var out []string
	for len(b) >= 4 {
		n, typ := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if n < 4 || n > len(b) {
			return "broken"
		}
		at := fmt.Sprintf("%s/%d", path, typ)
		if typ != 0 { // what fills up
			s := fmt.Sprint(typ)
			if slices.Contains(nested, at) {
				s += "[" + shape(b[4:n], at, nested...) + "]"
			}
			out = append(out, s)
		}
		b = b[min(len(b), netlink.Align(n)):]
	}
	return strings.Join(out, " ")
}

// Answers have the attributes, in the order, of those of a kernel 6.1.176 in the same situation:
// two nodes, with a socket that is bound and a connection by name. The texts are what was seen there.
//
// Mutations it catches: an attribute more, fewer, elsewhere, or without being asked for.
//
// Proves: plain.netlink
func TestAnswersAsOfAKernel(t *testing.T) {
	h := hub.New(hub.Config{})
	n, other := open(t, h, own), open(t, h, peer)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	service := stack.Service{Type: 21000, Instance: 1}
	l, err := other.Listen(ctx, "tipc", service)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go l.AcceptConn() // the connection lives until its node ends
	if err := n.WaitFor(ctx, service); err != nil {
		t.Fatal(err)
	}
	c, err := n.Dial(ctx, "tipc", service)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	unbound, err := n.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unbound.Close()
	const (
		cast    = "4[5 4 1 9 10 7[3 5 6] 8[1 2 3 4 5 6 7 8 9 10 23 24 27 28 29 30 31 32 33]]"
		link    = "4[1 2 3 9 10 5 6 7[1 2 3] 8[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33]]"
		name    = "8[1[1 2 3 4 5 6 7]]"
		done    = "done"
		linkIs  = "/4 /4/7 /4/8"
		bearers = "/1 /1/2"
	)
	for _, x := range []struct {
		about  string
		flags  uint16
		c      byte
		attrs  []byte
		nested string
		want   []string
	}{
		{"bearers", list, 4, nil, bearers, []string{"1[1 2[1 2 3]]", done}},
		{"a bearer", ack, 4, nest(1, text(1, "eth:eth0")), bearers, []string{"1[1 2[1 2 3]]", "0"}},
		{"media", list, 11, nil, "/5 /5/2", []string{"5[1 2[1 2 3]]", "5[1 2[1 2 3 4]]", done}},
		{"a medium", 0, 11, nest(5, text(1, "udp")), "/5 /5/2", []string{"5[1 2[1 2 3 4]]"}},
		{"links", list, 8, nil, linkIs, []string{cast, link, done}},
		{"links and what came", list, 8, nest(4, attr(4, nil)), linkIs, []string{cast, link, cast, done}},
		{"the broadcast link", ack, 8, nest(4, text(1, "broadcast-link")), linkIs, []string{cast, "0"}},
		{"a link", ack, 8, nest(4, text(1, "1001001:eth0-1001002:eth0")), linkIs, []string{link, "0"}},
		{"names", list, 16, nil, "/8 /8/1", []string{name, name, name, name, name, done}},
		{"nodes", list, 13, nil, "/6", []string{"6[1 2]", done}},
		{"the net", list, 14, nil, "/7", []string{"7[1 3 4]", done}},
		{"sockets", list, 6, nil, "/2 /2/3", []string{"2[2 1 3[2 3 1 4 5]]", "2[2 1 4]", "2[2 1]", done}},
		{"the threshold", ack, 18, nil, "/9", []string{"9[1]", "0"}},
		{"monitors", list, 18, nil, "/9", []string{"9[2 4 5 6]", done}},
		{"neighbours", list, 19, nest(9, word(2, 0)), "/10", []string{"10[1 3 6 7 2 4 5]", "10[1 3 6 8]", done}},
	} {
		var got []string
		for _, m := range ask(t, n, x.flags, x.c, x.attrs) {
			switch m.typ {
			case 2:
				got = append(got, fmt.Sprint(-int32(binary.NativeEndian.Uint32(m.body))))
			case 3:
				got = append(got, done)
			default:
				got = append(got, shape(m.body[4:], "", strings.Fields(x.nested)...))
			}
			if multi := m.flags&2 != 0; m.typ != 2 && multi != (x.flags&list != 0 || strings.Contains(x.about, "broadcast")) {
				t.Errorf("%s: flags %#x", x.about, m.flags)
			}
		}
		if x.c == 6 {
			slices.Sort(got[:len(got)-1]) // they are in no order
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", x.about, strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
	}
}

// The names of one socket are listed, the newest first; of no socket there are none.
//
// Mutations it catches: dumpPublications tells the oldest first, or all names.
//
// Proves: plain.netlink
func TestPublications(t *testing.T) {
	n := open(t, hub.New(hub.Config{}), own)
	c, err := n.ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.BindScope(stack.Range{Type: 18888, Lower: 7, Upper: 9}, stack.NodeScope); err != nil {
		t.Fatal(err)
	}
	addr := c.LocalAddr().(stack.SocketAddr)
	var got []string
	for _, m := range ask(t, n, list, 7, nest(2, word(2, addr.Port))) {
		if b := netlink.Attribute(m.body[min(4, len(m.body)):], 3); m.typ == genetlink.FamilyID {
			got = append(got, fmt.Sprint(netlink.Number(b, 1), netlink.Number(b, 2), netlink.Number(b, 3)))
		}
	}
	if want := []string{"18888 7 9", "18888 1 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if all := ask(t, n, list, 7, nest(2, word(2, addr.Port+1))); len(all) != 1 || all[0].typ != 2 {
		t.Errorf("of no socket: %v", all)
	}
}
