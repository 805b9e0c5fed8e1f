// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// What is found or happens to a bearer, in which state, and what is done:
//
//	state     what is found, or happens               what is done                     state then
//	--------  --------------------------------------  -------------------------------  ----------
//	waiting   the interface is there, up              open                             up
//	waiting   it is there, down                       nothing, says so                 waiting
//	waiting   it is a port                            nothing, says so                 waiting
//	waiting   the opening fails                       open after 250 ms, 500 ms, …     up
//	waiting   a command disables the bearer           forget
//	up        the carrier is lost, and back           nothing, says so                 down, up
//	up        lost three times in 5 s                 hold; release 1.5 s after        damped, up
//	up        the interface is gone                   close                            waiting
//	up        it is gone and back between two looks   close, open                      up
//	up        another MAC                             close, open                      up
//	up        another number of queues                close, open                      up
//	up        the program is another's, or none       close, open                      up
//	up        it becomes a port, and is freed         close; open                      waiting, up
//	any       a look finds nothing out                nothing; look 1 s later          as before
//	up        the MTU changes                         nothing: the device follows      up
//	up        others use the interface                close, open                      up
//	up        they are gone                           close, open 10 s later           up
//	up        they are gone, and back before that     nothing                          up
//	up        they come and go                        as above, after 20 s, 40 s, …    up
//	up        the driver does not depend on it        nothing                          up
//	up        a VLAN or a macvlan is put on it        nothing, says so                 up
//	up        a command disables the bearer           forget
//	up        settings: other options                 close, open                      up
//	up        settings: another remote                add_remote, remove_remote        up
//	up        settings: no longer wanted              close, forget
//	up, UDP   the interface is gone, and back         hold; rejoin, release            down, up
//	up, UDP   the membership is gone                  rejoin                           up
//	up, UDP   joining again fails                     close, open                      up
//	up, UDP   DHCP gives the interface another IP     close, open                      up
var transitions = []struct {
	what string
	udp  bool
	do   func(h *host)
	want string
}{
	{"the interface appears", false, func(h *host) { h.gone(); h.back() }, "close waiting(interface eth0 does not exist) open up"},
	{
		"it appears and is down", false, func(h *host) { h.gone(); h.change(func(f *Facts) { f.Exists, f.Index, f.Up = true, 2, false }) },
		"close waiting(interface eth0 does not exist) waiting(interface eth0 is down)",
	},
	{"it comes up", false, func(h *host) {
		h.change(func(f *Facts) { f.Up, f.Carrier = false, false })
		h.change(func(f *Facts) { f.Up, f.Carrier = true, true })
	}, "down(interface eth0 is down) up"},
	{"opening fails", false, func(h *host) { h.fails = 2; h.gone(); h.back(); h.run(time.Second) }, "close waiting(interface eth0 does not exist) open waiting(refused) open waiting(refused) open up"},
	{"waiting, disabled by a command", false, func(h *host) { h.gone(); h.change(func(f *Facts) { f.Noted = false }) }, "close waiting(interface eth0 does not exist) forget"},
	{"the carrier is lost and back", false, func(h *host) {
		h.change(func(f *Facts) { f.Carrier = false; f.Downs++ })
		h.change(func(f *Facts) { f.Carrier = true })
	}, "down(interface eth0 has no carrier) up"},
	{"the carrier comes and goes", false, func(h *host) {
		for range 40 {
			h.change(func(f *Facts) { f.Carrier = !f.Carrier; f.Downs++ })
			h.run(50 * time.Millisecond)
		}
		h.run(2 * time.Second)
	}, "down(interface eth0 has no carrier) up hold damped(the carrier comes and goes) release up"},
	{"the interface is gone", false, func(h *host) { h.gone() }, "close waiting(interface eth0 does not exist)"},
	{"gone and back between two looks", false, func(h *host) { h.change(func(f *Facts) { f.Index++ }) }, "down(interface eth0 was made anew) close open up"},
	{
		"another MAC", false, func(h *host) { h.change(func(f *Facts) { f.MAC[5]++ }) },
		"down(interface eth0 has the address 02:00:00:00:00:02 now, no longer 02:00:00:00:00:01) close open up",
	},
	{
		"other queues", false, func(h *host) { h.change(func(f *Facts) { f.Queues = 4 }) },
		"down(interface eth0 has 4 receive queues now, no longer 2) close open up",
	},
	{
		"the program is gone", false, func(h *host) { h.change(func(f *Facts) { f.Program = 0 }) },
		"down(the XDP program on interface eth0 is not ours any more) close open up",
	},
	{
		"a port of a bridge", false, func(h *host) { h.change(func(f *Facts) { f.Master = "br0" }) },
		"close waiting(interface eth0 is a port of br0, which takes the frames that arrive: use br0)",
	},
	{"and freed", false, func(h *host) {
		h.change(func(f *Facts) { f.Master = "br0" })
		h.change(func(f *Facts) { f.Master = "" })
	}, "close waiting(interface eth0 is a port of br0, which takes the frames that arrive: use br0) open up"},
	{"nothing is found out, then that it is gone", false, func(h *host) {
		h.blind = true
		h.gone()
		h.run(3 * time.Second)
		h.did = append(h.did, "sees")
		h.blind = false
		h.run(blindPause)
	}, "sees close waiting(interface eth0 does not exist)"},
	{"another MTU", false, func(h *host) { h.change(func(f *Facts) { f.MTU = 9000 }) }, ""},
	{"a VLAN comes and goes", false, func(h *host) {
		h.change(func(f *Facts) { f.Above = "eth0.184" })
		h.change(func(f *Facts) { f.Above = "" })
	}, "up, below eth0.184 up"},
	{"others use the interface", false, func(h *host) { h.users(true) }, "close open up"},
	{"others are gone", false, func(h *host) {
		h.users(true)
		h.users(false)
		h.run(firstAlone - time.Second)
		h.did = append(h.did, "9.3s")
		h.run(time.Second)
	}, "close open up 9.3s close open up"},
	{"others are gone, and back", false, func(h *host) {
		h.users(true)
		h.users(false)
		h.run(firstAlone - time.Second)
		h.users(true)
		h.run(time.Minute)
	}, "close open up"},
	{"others come and go", false, func(h *host) {
		for range 3 {
			h.users(true)
			h.users(false)
			h.run(firstAlone)
			h.did = append(h.did, "10s")
		}
		h.run(3 * firstAlone)
	}, "close open up close open up 10s close open up 10s 10s close open up"},
	{"others use it by another address", false, func(h *host) {
		h.users(true)
		h.change(func(f *Facts) { f.Users = "it has the address 10.0.0.2/24" })
	}, "close open up"},
	{"others use it, the driver was asked for", false, func(h *host) {
		h.asked = true
		h.wish.Rest = "af_xdp"
		h.want(h.wish)
		h.users(true)
		h.users(false)
		h.run(time.Minute)
	}, "close open up"},
	{"others use it while it settles", false, func(h *host) {
		h.facts.Users = "mac0 lies on it"
		h.r.News(h.now)
		h.run(50 * time.Millisecond)
		h.facts.Users = ""
		h.r.News(h.now)
		h.run(time.Minute)
	}, ""},
	{"up, disabled by a command", false, func(h *host) { h.change(func(f *Facts) { f.Attached, f.Noted = false, false }) }, "forget"},
	{"other settings", false, func(h *host) { h.wish.Rest = "af_xdp"; h.want(h.wish) }, "close open up"},
	{"other settings, while it settles", false, func(h *host) {
		h.facts.MTU = 9000
		h.r.News(h.now)
		h.run(30 * time.Millisecond)
		h.wish.Rest = "af_xdp"
		h.r.Want(h.now, []Wish{h.wish})
		h.run(10 * time.Millisecond)
	}, "close open up"},
	{"no longer wanted", false, func(h *host) { h.want() }, "close forget"},
	{"the same settings", false, func(h *host) { h.want(h.wish) }, ""},
	{
		"a remote goes and another comes", true, func(h *host) { h.wish.Remotes = []netip.AddrPort{remote(2), remote(4)}; h.want(h.wish) },
		"add_remote:10.0.0.4:6118 remove_remote:10.0.0.3:6118",
	},
	{
		"the UDP interface is gone and back", true, func(h *host) { h.gone(); h.back() },
		"hold down(no interface has the address 10.0.0.1) rejoin release up",
	},
	{"the membership is gone", true, func(h *host) { h.change(func(f *Facts) { f.Group = false }) }, "rejoin"},
	{"joining fails", true, func(h *host) { h.rejoins = errors.New("no such device"); h.change(func(f *Facts) { f.Group = false }) }, "rejoin close open up"},
	{"another IP by DHCP", true, func(h *host) {
		h.wish.Device, h.wish.Local = "eth0", netip.Addr{}
		h.want(h.wish)
		h.did = nil
		h.change(func(f *Facts) { f.Local = remote(9).Addr() })
	}, "down(interface eth0 has the address 10.0.0.9 now, no longer 10.0.0.1) close open up"},
}

func remote(n byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 6118)
}

// A host has one bearer, and carries out what the Reconciler asks for.
type host struct {
	t       *testing.T
	r       *Reconciler
	now     time.Duration
	wish    Wish
	facts   Facts
	did     []string
	fails   int   // openings that fail
	rejoins error // how joining ends
	blind   bool  // looks find nothing out
	asked   bool  // the driver is asked for
}

// newHost is a host whose bearer is up.
func newHost(t *testing.T, udp bool) *host {
	h := &host{t: t, r: New(0), wish: Wish{ID: "eth:eth0", Device: "eth0", Rest: "auto"}}
	h.facts = Facts{Exists: true, Index: 1, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, MTU: 1500, Up: true, Carrier: true, Queues: 2, Group: true, Noted: true}
	if udp {
		h.wish = Wish{ID: "udp:UDP1", Local: remote(1).Addr(), Remotes: []netip.AddrPort{remote(2), remote(3)}}
		h.facts.MAC, h.facts.Queues, h.facts.Local = frame.MAC{}, 0, h.wish.Local
	}
	h.want(h.wish)
	if s := h.status(); s.State != Up {
		t.Fatalf("at first: got %+v, want it up", s)
	}
	h.did = nil
	return h
}

func (h *host) status() (s Status) {
	h.r.Statuses(func(_ Wish, x Status, _ Facts) { s = x })
	return s
}

func (h *host) want(all ...Wish) {
	h.r.Want(h.now, all)
	h.run(300 * time.Millisecond)
}

// users has others use the interface, or no longer.
func (h *host) users(are bool) {
	h.change(func(f *Facts) {
		if f.Users = ""; are {
			f.Users = "it has the address 10.0.0.1/24"
		}
	})
}

func (h *host) gone() { h.change(func(f *Facts) { f.Exists = false }) }
func (h *host) back() {
	h.change(func(f *Facts) { f.Exists, f.Index, f.Group = true, f.Index+1, false })
}

// change changes the interface, and announces it.
func (h *host) change(how func(f *Facts)) {
	how(&h.facts)
	h.r.News(h.now)
	h.run(300 * time.Millisecond)
}

// run lets time pass.
func (h *host) run(d time.Duration) {
	h.act()
	end := h.now + d
	for h.r.Deadline() <= end {
		h.now = max(h.now, h.r.Deadline())
		h.r.HandleTimeout(h.now)
		h.act()
	}
	h.now = end
}

func (h *host) act() {
	for a, ok := h.r.NextAction(); ok; a, ok = h.r.NextAction() {
		var err error
		switch f := &h.facts; a.Act {
		case Look:
			if h.blind {
				h.r.Blind(h.now)
				continue
			}
			h.r.See(h.now, h.wish.ID, *f)
			continue
		case Report:
			switch s := a.Status; s.State {
			case Opening, Closing:
			case Waiting, Down, Damped, Up:
				if s.Reason != (Reason{}) {
					h.did = append(h.did, fmt.Sprintf("%v(%s)", s.State, s.Reason.Text))
				} else if s.State == Up && s.Above != "" {
					h.did = append(h.did, "up, below "+s.Above)
				} else if s.State == Up {
					h.did = append(h.did, "up")
				}
			}
			continue
		case Open:
			if h.fails--; h.fails >= 0 {
				err = errors.New("refused")
				break
			}
			f.Attached, f.Group, f.Program = true, true, 7
			f.On = Standing{Index: f.Index, MAC: f.MAC, Queues: f.Queues, Program: 7, Local: f.Local}
			f.On.Alone, f.On.Shared = !h.asked && f.Users == "", !h.asked && f.Users != ""
		case Close:
			f.Attached = false
		case Rejoin:
			if err = h.rejoins; err == nil {
				f.On.Index, f.Group = f.Index, true
			}
		}
		if len(h.did) > 1000 {
			h.t.Fatalf("no end of actions: %q", h.did[:20])
		}
		what := a.Act.String()
		if a.Remote.IsValid() {
			what += ":" + a.Remote.String()
		}
		h.did = append(h.did, what)
		h.r.Done(h.now, a.ID, a.Act, err)
	}
}

// Each row fails without the case of decide or remedy that it is about.
func TestTransitions(t *testing.T) {
	for _, c := range transitions {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			h := newHost(t, c.udp)
			c.do(h)
			if got := strings.Join(h.did, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
