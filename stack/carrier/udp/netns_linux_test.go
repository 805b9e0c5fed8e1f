// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/netns"
)

// A wire is two ends in namespaces of their own, joined by a veth pair.
type wire struct {
	a, b *end
	x, y *netns.NS
}

func newWire(t *testing.T, c Config) (w wire) {
	netns.Require(t)
	w.x, w.y = netns.New(t), netns.New(t)
	netns.Veth(t, w.x, w.y, "left", "right", 1500)
	w.x.Run("ip", "addr", "add", "10.7.0.1/24", "dev", "left")
	w.y.Run("ip", "addr", "add", "10.7.0.2/24", "dev", "right")
	at := []netip.AddrPort{netip.MustParseAddrPort("10.7.0.1:6118"), netip.MustParseAddrPort("10.7.0.2:6118")}
	w.x.Do(func() { c.Local, c.Remotes = at[0], at[1:]; w.a = open(t, c) })
	w.y.Do(func() { c.Local, c.Remotes = at[1], at[:1]; w.b = open(t, c) })
	return w
}

// Messages longer than the interface's frames travel in fragments of IP.
func TestLongerThanTheInterface(t *testing.T) {
	w := newWire(t, Config{})
	if w.a.gso != 1472 {
		t.Errorf("got datagrams of up to %d bytes cut by the kernel, want 1472", w.a.gso)
	}
	for _, n := range []int{1471, 1472, 1473, 14000} {
		d := strings.Repeat("x", n)
		w.a.send(w.a.frames(w.b.Addr(), []byte(d), []byte(d), []byte(d))...)
		w.b.want(w.a.Addr(), d, d, d)
	}
	if s := w.a.Stats(); s.Sent != 12 || s.SentRuns != 8 {
		t.Errorf("got %+v, want 12 frames, those that fit in two runs", s)
	}
}

// A way that takes less than the interface shows when a run is refused; what is
// sent arrives.
func TestNarrowWay(t *testing.T) {
	w := newWire(t, Config{MTU: 1472})
	w.x.Run("ip", "route", "add", "10.7.0.2/32", "dev", "left", "mtu", "900")
	long, short := strings.Repeat("x", 1400), strings.Repeat("y", 800)
	for _, d := range []string{long, short} {
		w.a.send(w.a.frames(w.b.Addr(), []byte(d), []byte(d), []byte(d))...)
		w.b.want(w.a.Addr(), d, d, d)
	}
	if s := w.a.Stats(); w.a.gso != 1399 || s.Sent != 6 || s.SentRuns != 4 {
		t.Errorf("got runs of up to %d bytes, %+v; want the first three alone, then a run", w.a.gso, s)
	}
}

// While the network is down every frame is an error, which costs nothing; then
// all is well again.
//
// Proves: device.udp
func TestNetworkDown(t *testing.T) {
	w := newWire(t, Config{})
	w.a.say(w.b.Addr(), "before")
	w.b.want(w.a.Addr(), "before")
	w.x.Run("ip", "link", "set", "dev", "left", "down")
	f := w.a.frames(w.b.Addr(), []byte("lost"))
	var bad *NetworkError
	n, err := w.a.Transmit(f)
	if n != 0 || !errors.As(err, &bad) || bad.Remote != w.b.Own() || !errors.Is(err, unix.ENETUNREACH) && !errors.Is(err, unix.ENETDOWN) {
		t.Errorf("got %d, %v, want 0, that the network is unreachable", n, err)
	}
	if got := testing.AllocsPerRun(100, func() { w.a.Transmit(f) }); got != 0 {
		t.Errorf("got %v allocations for a frame that is refused, want 0", got)
	}
	f[0].Release()
	f = w.a.frames(frame.BroadcastMAC, []byte("lost"))
	if n, err := w.a.Transmit(f); n != 0 || !errors.As(err, &bad) {
		t.Errorf("a broadcast: got %d, %v", n, err)
	}
	f[0].Release()
	w.x.Run("ip", "link", "set", "dev", "left", "up")
	w.x.WaitCarrier("left", true)
	f = w.a.frames(w.b.Addr(), []byte("after"))
	for limit := time.Now().Add(testTimeout); ; { // routes take a moment
		if n, _ := w.a.Transmit(f); n == 1 {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("nothing can be sent")
		}
	}
	f[0].Release()
	w.b.want(w.a.Addr(), "after")
	if s := w.a.Stats(); s.Refused < 100 {
		t.Errorf("got %+v, want at least 100 refused", s)
	}
}
