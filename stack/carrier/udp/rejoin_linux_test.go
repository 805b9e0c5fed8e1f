// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/netns"
)

// The interface is deleted and made again under its name: the membership is gone with it,
// and Rejoin brings it back, both ways. Fails when Rejoin joins without leaving first (on
// an interface of the same number), or leaves out multicastBy.
func TestRejoin(t *testing.T) {
	netns.Require(t)
	for _, c := range []struct {
		what, left, right, group string
		more                     []string
	}{
		{"IPv4", "10.7.0.1/24", "10.7.0.2/24", "228.0.18.103", nil},
		{"IPv6", "fd07::1/64", "fd07::2/64", "ff05::4711", []string{"nodad"}}, // at once, without a trial whether another has it
	} {
		t.Run(c.what, func(t *testing.T) {
			x, y := netns.New(t), netns.New(t)
			cable := func() {
				netns.Veth(t, x, y, "left", "right", 1500)
				x.Run("ip", append([]string{"addr", "add", c.left, "dev", "left"}, c.more...)...)
				y.Run("ip", append([]string{"addr", "add", c.right, "dev", "right"}, c.more...)...)
			}
			cable()
			group := netip.AddrPortFrom(netip.MustParseAddr(c.group), 0)
			var a, b *end
			x.Do(func() {
				a = open(t, Config{Local: netip.AddrPortFrom(netip.MustParsePrefix(c.left).Addr(), 0), Multicast: group})
			})
			y.Do(func() {
				b = open(t, Config{Local: netip.AddrPortFrom(netip.MustParsePrefix(c.right).Addr(), 0), Multicast: group})
			})
			joined := func(want bool) {
				t.Helper()
				for ns, e := range map[*netns.NS]*end{x: a, y: b} {
					ns.Do(func() {
						if got := e.Joined(); got != want {
							t.Errorf("%v: joined %v, want %v", e.Own(), got, want)
						}
					})
				}
			}
			hear := func(what string) {
				t.Helper()
				a.say(frame.BroadcastMAC, what+" from a")
				b.want(a.Addr(), what+" from a")
				b.say(frame.BroadcastMAC, what+" from b")
				a.want(b.Addr(), what+" from b")
			}
			joined(true)
			hear("first")
			x.Run("ip", "link", "del", "dev", "left")
			joined(false)
			x.Do(func() {
				if err := a.Rejoin(); !errors.Is(err, unix.EADDRNOTAVAIL) {
					t.Errorf("without an interface: got %v, want %v", err, unix.EADDRNOTAVAIL)
				}
			})
			before := a.Index()
			cable()
			joined(false)
			for ns, e := range map[*netns.NS]*end{x: a, y: b} {
				ns.Do(func() {
					if err := e.Rejoin(); err != nil {
						t.Error(err)
					}
				})
			}
			joined(true)
			if a.Index() == before {
				t.Errorf("got interface number %d before and after", before)
			}
			hear("again")
			a.cfg.Multicast = netip.MustParseAddrPort("[ff02::4711]:6118")
			a.ifindex = before
			x.Do(func() {
				if err := a.Rejoin(); !errors.Is(err, unix.EADDRNOTAVAIL) {
					t.Errorf("with a group of the link: got %v, want %v", err, unix.EADDRNOTAVAIL)
				}
			})
			a.Close()
			if err := a.Rejoin(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
			}
		})
	}
}

// A remote that is removed gets no broadcasts any more, unless there is a link to it, and
// then as long as there is. Others are not touched. Fails without table.remove, or when it
// forgets the link.
func TestRemoveRemote(t *testing.T) {
	at := local(4)
	a := open(t, Config{Local: at[0], Remotes: at[1:]})
	b := open(t, Config{Local: at[1], Remotes: at[:1]})
	c := open(t, Config{Local: at[2], Remotes: at[:1]})
	d := open(t, Config{Local: at[3], Remotes: at[:1]})
	a.Keep(c.Addr(), true)
	for _, r := range at[2:] {
		if err := a.RemoveRemote(r); err != nil {
			t.Fatal(err)
		}
		if err := a.RemoveRemote(r); !errors.As(err, new(*ConfigError)) {
			t.Errorf("removed twice: got %v, want a ConfigError", err)
		}
	}
	if got := a.Remotes(); len(got) != 1 || got[0] != at[1] {
		t.Errorf("got remotes %v, want %v", got, at[1])
	}
	a.say(frame.BroadcastMAC, "one")
	b.want(a.Addr(), "one")
	c.want(a.Addr(), "one")
	a.Keep(c.Addr(), false)
	a.say(frame.BroadcastMAC, "two")
	a.say(c.Addr(), "mark")
	a.say(d.Addr(), "mark")
	b.want(a.Addr(), "two")
	c.want(a.Addr(), "mark")
	d.want(a.Addr(), "mark")
	if err := a.AddRemote(at[3]); err != nil {
		t.Fatal(err)
	}
	a.say(frame.BroadcastMAC, "three")
	b.want(a.Addr(), "three")
	d.want(a.Addr(), "three")
	for _, r := range []netip.AddrPort{at[1], at[3]} {
		if err := a.RemoveRemote(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, r := a.Ends(); r.IsValid() {
		t.Errorf("without remotes broadcasts go to %v", r)
	}
	a.Close()
	if err := a.RemoveRemote(at[1]); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
	}
}
