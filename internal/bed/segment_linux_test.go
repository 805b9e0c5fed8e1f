// SPDX-License-Identifier: Apache-2.0

package bed_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/tier"
)

// A tap is a packet socket on an end's interface, for frames of an EtherType that nobody
// else uses.
type tap struct{ fd, index int }

const someType = 0x88b5 // for local experiments

func openTap(t *testing.T, s *bed.Segment, i int) (p tap) {
	t.Helper()
	err := s.Do(i, func() (err error) {
		ifi, err := net.InterfaceByName(s.Name(i))
		if err != nil {
			return err
		}
		p.index = ifi.Index
		const typ = someType>>8 | someType<<8&0xff00
		p.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, typ)
		if err != nil {
			return err
		}
		return errors.Join(unix.Bind(p.fd, &unix.SockaddrLinklayer{Protocol: typ, Ifindex: p.index}),
			unix.SetsockoptTimeval(p.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 120}))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(p.fd) })
	return p
}

// shout sends a frame to everybody.
func (p tap) shout(t *testing.T, what string) {
	t.Helper()
	to := &unix.SockaddrLinklayer{Protocol: someType>>8 | someType<<8&0xff00, Ifindex: p.index, Halen: 6}
	copy(to.Addr[:], "\xff\xff\xff\xff\xff\xff")
	if err := unix.Sendto(p.fd, []byte(what), 0, to); err != nil {
		t.Fatal(err)
	}
}

func (p tap) hear(t *testing.T, who int, want string) {
	t.Helper()
	b := make([]byte, 100)
	n, _, err := unix.Recvfrom(p.fd, b, 0)
	for err == unix.EINTR {
		n, _, err = unix.Recvfrom(p.fd, b, 0)
	}
	if got := string(b[:max(0, n)]); err != nil || got != want {
		t.Errorf("end %d: got %q, %v, want %q", who, got, err, want)
	}
}

// What one end sends to everybody all others hear, but for one that is not plugged in.
//
// Proves: names.cost
func TestSegment(t *testing.T) {
	tier.SkipShort(t, "network namespaces")
	s, err := bed.NewSegment(3, 1400)
	switch {
	case errors.Is(err, os.ErrPermission):
		tier.Missing(t, "no segment:", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var taps []tap
	for i := range 3 {
		taps = append(taps, openTap(t, s, i))
	}
	say := func(what string, ears ...int) {
		t.Helper()
		taps[0].shout(t, what)
		for _, i := range ears {
			taps[i].hear(t, i, what)
		}
	}
	say("one", 1, 2)
	if err := s.Plug(2, false); err != nil {
		t.Fatal(err)
	}
	say("two", 1)
	if err := s.Namespace(0).WaitCarrier(s.Name(0), true); err != nil {
		t.Errorf("another end: %v", err)
	}
	if err := s.Plug(2, true); err != nil {
		t.Fatal(err)
	}
	say("three", 1, 2)
}

// What is closed leaves no descriptor, also when it could not be made whole.
//
// Proves: names.cost
func TestSegmentLeavesNothing(t *testing.T) {
	makeBed(t, bed.Options{}).Close() // skips; and what the runtime opens once
	before := descriptors(t)
	for range 3 {
		s, err := bed.NewSegment(2, 1500)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	if _, err := bed.NewSegment(2, 1); err == nil {
		t.Error("an MTU of 1: got no error")
	}
	if got := descriptors(t); got > before {
		t.Errorf("got %d descriptors, want %d", got, before)
	}
}
