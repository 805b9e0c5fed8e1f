// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/netns"
)

// rawSender opens a socket that sends whole frames from an interface.
func rawSender(t *testing.T, ns *netns.NS, name string) func(b []byte) {
	t.Helper()
	fd := -1
	ns.Do(func() {
		var err error
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		index, err := interfaceIndex(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { unix.Close(fd) })
	return func(b []byte) {
		if _, err := unix.Write(fd, b); err != nil {
			t.Errorf("send: %v", err)
		}
	}
}

func interfaceIndex(name string) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return 0, err
	}
	err = unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, r)
	return int(r.Uint32()), err
}

// TestDecodeLive reads from an interface what comes and what goes: TIPC over Ethernet,
// with a tag, over UDP, in fragments too; and nothing else.
//
// Mutations it catches: each that prints fragments of other ports; sniffFilter without its
// test of the fragment's place.
//
// Proves: tools.decode
func TestDecodeLive(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	out, in := rawSender(t, a, "left"), rawSender(t, b, "right")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	er, ew := io.Pipe()
	status := make(chan int, 1)
	go a.Do(func() {
		s := run(ctx, []string{"decode", "--json", "--count", "9", "--if", "left"}, nil, w, ew)
		w.Close()
		ew.Close()
		status <- s
	})
	errs, next := lines(t, er), lines(t, r)
	if l, want := errs(), "utipc decode: listening on left"; l != want {
		t.Fatalf("got %q, want %q", l, want)
	}
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 1, DestNode: 2, OrigPort: 3, DestPort: 4}
	f.Prev = 1
	part := func([]byte) []byte { return f.Append(nil, bytes.Repeat([]byte{'x'}, 44)) } // one message for two frames
	for i, x := range []struct {
		send func([]byte)
		b    func(m []byte) []byte
		want string // "" is not shown
	}{
		{in, func(m []byte) []byte { return ethernet(m) }, `"direction":"in"`},
		{out, func(m []byte) []byte { return ethernet(m) }, `"direction":"out"`},
		{in, func(m []byte) []byte { return append(ethernet(nil)[:12], append([]byte{8, 6}, m...)...) }, ""},
		{in, func(m []byte) []byte { return ethernet(m, 0x81, 0, 0, 7) }, `"vlans":[7]`},
		{out, func(m []byte) []byte { return ethernet(m, 0x81, 0, 0, 8) }, `"vlans":[8]`},
		{in, func(m []byte) []byte { return udpOverIP(false, 9, 9, m) }, ""},
		{in, func(m []byte) []byte { return udpOverIP(false, 6118, 9, m) }, `"udp":true`},
		{in, func(m []byte) []byte { return udpOverIP(true, 9, 9, m) }, ""},
		{out, func(m []byte) []byte { return udpOverIP(true, 9, 6118, m) }, `"udp":true`},
		{in, func(m []byte) []byte { return ipFragments(udpOverIP(false, 9, 9, m), 1, 48)[0] }, ""},
		{in, func(m []byte) []byte { return ipFragments(udpOverIP(false, 9, 9, m), 1, 48)[1] }, ""},
		{in, func(m []byte) []byte { return ipFragments(udpOverIP(false, 9, 6118, part(m)), 2, 48)[1] }, "fragment 48-"},
		{out, func(m []byte) []byte { return ipFragments(udpOverIP(false, 9, 6118, part(m)), 2, 48)[0] }, `"fragments":[7,8]`},
		{in, func(m []byte) []byte { return ethernet(m) }, `"direction":"in"`},
	} {
		x.send(x.b(f.Append(nil, bytes.Repeat([]byte{'x'}, 30+i))))
		if x.want == "" {
			continue
		}
		size, class := `"size":`+itoa(32+30+i)+",", `"class":"tipc"`
		if strings.HasPrefix(x.want, "fragment ") {
			size, class = "", `"class":"other"`
		} else if strings.Contains(x.want, "fragments") {
			size = `"size":76,`
		}
		if l := next(); !strings.Contains(l, x.want) || !strings.Contains(l, size) || !strings.Contains(l, class) {
			t.Errorf("frame %d: got %q, want %s and %s", i, l, x.want, size)
		}
	}
	if l := next(); !strings.HasPrefix(l, `{"total":{"frames":9,"tipc":8,"unknown":0,"malformed":0,"fragments":2,"joined":1,"refused":0,"incomplete":0`) {
		t.Errorf("got %q, want 9 frames, 8 of TIPC", l)
	}
	if s := <-status; s != cmdline.Done {
		t.Errorf("got status %d, want %d", s, cmdline.Done)
	}
}

// TestDecodeLiveEnds: an interrupt is the end, not a failure; and what cannot be read
// from is named.
//
// Proves: tools.decode
func TestDecodeLiveEnds(t *testing.T) {
	netns.Require(t)
	a := netns.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	var status int
	a.Do(func() { status = run(ctx, []string{"decode", "--if", "lo"}, nil, &out, &errs) })
	if status != cmdline.Done || !strings.HasPrefix(out.String(), "0 frames") {
		t.Errorf("interrupted: got status %d, %q, %q, want 0", status, out.String(), errs.String())
	}
	errs.Reset()
	a.Do(func() { status = run(t.Context(), []string{"decode", "--if", "none0"}, nil, os.Stdout, &errs) })
	if status != cmdline.Failed || !strings.Contains(errs.String(), "none0: no such interface") {
		t.Errorf("no such interface: got status %d, %q", status, errs.String())
	}
}

// TestSniffFilter runs the filter on frames cut at any length: it takes those it should and
// nothing reads beyond the end.
func TestSniffFilter(t *testing.T) {
	vm, err := bpf.NewVM(sniffFilter)
	if err != nil {
		t.Fatal(err)
	}
	takes := func(b []byte) bool {
		n, err := vm.Run(b)
		return err == nil && n > 0
	}
	message := make([]byte, 40)
	for _, c := range []struct {
		name string
		b    []byte
		want bool
	}{
		{"Ethernet", ethernet(message), true},
		{"one tag", ethernet(message, 0x81, 0, 0, 7), true},
		{"two tags", ethernet(message, 0x88, 0xa8, 0, 9, 0x81, 0, 0, 7), true},
		{"from the port", udpOverIP(false, 6118, 9, message), true},
		{"to the port", udpOverIP(false, 9, 6118, message), true},
		{"from the port, IPv6", udpOverIP(true, 6118, 9, message), true},
		{"to the port, IPv6", udpOverIP(true, 9, 6118, message), true},
		{"other ports", udpOverIP(false, 9, 9, message), false},
		{"first fragment", ipFragments(udpOverIP(false, 9, 9, message), 1, 24)[0], true},
		{"last fragment", ipFragments(udpOverIP(false, 9, 9, message), 1, 24)[1], true},
		{"first fragment, IPv6", ipFragments(udpOverIP(true, 9, 9, message), 1, 24)[0], true},
		{"last fragment, IPv6", ipFragments(udpOverIP(true, 9, 9, message), 1, 24)[1], true},
		{"fragment of TCP", bytes.Replace(ipFragments(udpOverIP(false, 9, 9, message), 1, 24)[1], []byte{64, 17}, []byte{64, 6}, 1), false},
		{"fragment of TCP, IPv6", bytes.Replace(ipFragments(udpOverIP(true, 9, 9, message), 1, 24)[1], []byte{17, 0, 0, 24}, []byte{6, 0, 0, 24}, 1), false},
		{"other ports, IPv6", udpOverIP(true, 9, 9, message), false},
		{"TCP", bytes.Replace(udpOverIP(false, 9, 6118, message), []byte{64, 17}, []byte{64, 6}, 1), false},
		{"ARP", append(ethernet(nil)[:12], 8, 6), false},
		{"nothing", nil, false},
	} {
		if got := takes(c.b); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		for n := range c.b {
			takes(c.b[:n])
		}
	}
}
