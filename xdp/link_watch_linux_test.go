// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/test/netns"
	failing "github.com/utipc/utipc/test/shortage"
)

const watchTimeout = 2 * time.Minute

// A watched is a veth whose end "one" is watched.
type watched struct {
	*testing.T
	ns    *netns.NS
	index int
	watch *linkWatch
	told  chan linkState
}

// newWatched watches an interface of a new pair; told holds the first state.
func newWatched(t *testing.T) *watched {
	t.Helper()
	netns.Require(t)
	w := &watched{T: t, ns: netns.New(t), told: make(chan linkState, 4096)}
	netns.Veth(t, w.ns, w.ns, "one", "two", 1500)
	w.index = w.number("one")
	w.watch = w.open()
	t.Cleanup(w.watch.Close)
	return w
}

func (w *watched) number(name string) (index int) {
	w.Helper()
	w.ns.Do(func() {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			w.Fatal(err)
		}
		index = ifi.Index
	})
	return index
}

func (w *watched) open() (watch *linkWatch) {
	w.Helper()
	var err error
	w.ns.Do(func() {
		watch, err = watchLink(w.index, func(s linkState) { s.mac = frame.MAC{}; w.told <- s })
	})
	if err != nil {
		w.Fatal(err)
	}
	return watch
}

func (w *watched) ip(args ...string) {
	w.Helper()
	w.ns.Run("ip", append([]string{"link"}, args...)...)
}

// want waits for the next state that is told.
func (w *watched) want(after string, want linkState) {
	w.Helper()
	select {
	case got := <-w.told:
		if got != want {
			w.Fatalf("after %s: got %+v, want %+v", after, got, want)
		}
	case <-time.After(watchTimeout):
		w.Fatalf("after %s: nothing was told, want %+v", after, want)
	}
}

// Proves: device.changes
func TestWatchFollowsTheInterface(t *testing.T) {
	w := newWatched(t)
	select {
	case got := <-w.told:
		if got != (linkState{mtu: 1500}) {
			t.Fatalf("at first: got %+v, want an MTU of 1500", got)
		}
	default:
		t.Fatal("nothing was told before watchLink returned")
	}
	for _, c := range []struct {
		do   string
		want linkState
	}{
		{"set dev one mtu 9000", linkState{mtu: 9000}},
		{"set dev one down", linkState{}},
		{"set dev one mtu 1000", linkState{mtu: -1}}, // nothing new while it is down
		{"set dev one name another", linkState{mtu: -1}},
		{"set dev another up", linkState{mtu: 1000}},
		{"set dev two down", linkState{}},
		{"set dev two up", linkState{mtu: 1000}},
		{"set dev two mtu 4000", linkState{mtu: -1}},                   // the other end's is its own affair
		{"add name more type veth peer name less", linkState{mtu: -1}}, // so is another's
		{"set dev another mtu 1001", linkState{mtu: 1001}},
		{"del dev another", linkState{}}, // it goes down first
	} {
		w.ip(strings.Fields(c.do)...)
		if c.want.mtu >= 0 {
			w.want(c.do, c.want)
		}
	}
	w.want("removal", linkState{removed: true})
}

func TestWatchSeesAnInterfaceMovedAway(t *testing.T) {
	w := newWatched(t)
	<-w.told
	w.ip("set", "dev", "one", "netns", netns.New(t).Path())
	for s := range w.told { // it may be down first
		if s.removed {
			break
		}
	}
}

// Leaving a bridge looks much like leaving the namespace.
func TestWatchKnowsABridgeFromTheNamespace(t *testing.T) {
	w := newWatched(t)
	<-w.told
	w.ip("add", "name", "br", "type", "bridge")
	w.ip("set", "dev", "one", "master", "br")
	w.want("entering a bridge", linkState{mtu: 1500, port: true})
	w.ip("set", "dev", "one", "nomaster")
	w.want("leaving a bridge", linkState{mtu: 1500})
	w.ip("set", "dev", "one", "mtu", "1400")
	w.want("a change after that", linkState{mtu: 1400})
}

// toggle changes the MTU many times, faster than ip can.
func (w *watched) toggle(times, last int) {
	w.Helper()
	w.ns.Do(func() {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			w.Fatal(err)
		}
		defer unix.Close(fd)
		for i := range times {
			ifr, _ := unix.NewIfreq("one")
			ifr.SetUint32(uint32(last + times - 1 - i))
			if err := unix.IoctlIfreq(fd, unix.SIOCSIFMTU, ifr); err != nil {
				w.Fatal(err)
			}
		}
	})
}

// While the receiver of news is busy, more come than the kernel keeps for it. The
// last of them is told all the same.
//
// Proves: device.changes
func TestWatchAsksForNewsThatWereLost(t *testing.T) {
	w := newWatched(t)
	w.watch.Close()
	hold, held := make(chan struct{}), make(chan struct{}, 1)
	var err error
	w.ns.Do(func() {
		w.watch, err = watchLink(w.index, func(s linkState) {
			s.mac = frame.MAC{}
			w.told <- s
			if s.mtu == 1400 {
				held <- struct{}{}
				<-hold
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.watch.Close)
	if raw, err := w.watch.file.SyscallConn(); err != nil {
		t.Fatal(err)
	} else {
		raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1) })
	}
	w.ip("set", "dev", "one", "mtu", "1400")
	<-held
	const changes = 100
	w.toggle(changes, 1234)
	close(hold)
	for n, end := 1, time.After(watchTimeout); ; n++ {
		select {
		case s := <-w.told:
			if s.mtu != 1234 {
				continue
			}
			if n >= changes {
				t.Errorf("%d states were told, so nothing was lost", n)
			}
			// And it goes on.
			w.ip("set", "dev", "one", "mtu", "1300")
			w.want("the flood", linkState{mtu: 1300})
			return
		case <-end:
			t.Fatal("the last state was never told")
		}
	}
}

// What another process sends to the watch's socket is not believed.
func TestWatchHearsTheKernelOnly(t *testing.T) {
	w := newWatched(t)
	<-w.told
	var port uint32
	raw, err := w.watch.file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		if a, err := unix.Getsockname(int(fd)); err == nil {
			port = a.(*unix.SockaddrNetlink).Pid
		}
	})
	w.ns.Do(func() {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		err = unix.Sendto(fd, linkMessage(unix.RTM_DELLINK, 0, w.index, 0, 0), 0,
			&unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: port})
		if err != nil {
			t.Fatal(err)
		}
	})
	w.ip("set", "dev", "one", "mtu", "1400")
	w.want("a forged message", linkState{mtu: 1400})
}

func TestWatchOfNothing(t *testing.T) {
	netns.Require(t)
	before := netlinks(t)
	netns.New(t).Do(func() {
		_, err := watchLink(4711, func(linkState) {})
		if !errors.Is(err, ErrRemoved) {
			t.Errorf("got %v, want %v", err, ErrRemoved)
		}
	})
	if got := netlinks(t); got != before {
		t.Errorf("got %d sockets, want %d", got, before)
	}
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	w := newWatched(t)
	goroutines, sockets := runtime.NumGoroutine(), netlinks(t)
	for range 100 {
		w.open().Close()
	}
	w.ip("del", "dev", "one")
	for s := range w.told {
		if s.removed {
			break
		}
	}
	waitGoroutines(t, goroutines-1) // the watch's own has nothing more to hear
	if got := netlinks(t); got != sockets {
		t.Errorf("got %d sockets, want %d", got, sockets)
	}
}

// netlinks counts the sockets of this process.
func netlinks(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// waitGoroutines waits until there are no more than want: a goroutine that has
// said it is done needs a moment to vanish.
func waitGoroutines(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(watchTimeout); runtime.NumGoroutine() > want; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("got %d goroutines, want %d", runtime.NumGoroutine(), want)
		}
	}
}

// linkMessage is a message of rtnetlink about an interface, with its MTU.
func linkMessage(typ uint16, family byte, index int, flags, mtu uint32) []byte {
	m := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint16(m[4:], typ)
	m[16] = family
	binary.NativeEndian.PutUint32(m[20:], uint32(index))
	binary.NativeEndian.PutUint32(m[24:], flags)
	m = netlink.AppendAttribute(m, unix.IFLA_IFNAME, []byte("eth0\x00"))
	m = netlink.AppendAttribute(m, unix.IFLA_MTU, binary.NativeEndian.AppendUint32(nil, mtu))
	binary.NativeEndian.PutUint32(m, uint32(len(m)))
	return m
}

// A watch of an interface that cannot begin, because the kernel has no memory for what it has to say and
// goes on having none, says so.
//
// Mutation it catches: step takes ENOBUFS for lost news without a limit, and watchLink does not return.
func TestWatchWithoutMemory(t *testing.T) {
	netns.Require(t)
	w := &watched{T: t, ns: netns.New(t)}
	netns.Veth(t, w.ns, w.ns, "one", "two", 1500)
	w.index = w.number("one")
	thread := failing.Start(t)
	for n := 1; ; n++ {
		var watch *linkWatch
		var err error
		thread.Do(func() {
			w.ns.Do(func() {
				thread.Fail(n, 0, unix.ENOBUFS)
				watch, err = watchLink(w.index, func(linkState) {})
				thread.Relent()
			})
		})
		if watch != nil {
			watch.Close()
		}
		call, failed := thread.Failed()
		if failed == 0 {
			if n < 5 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		if watch == nil && !errors.Is(err, unix.ENOBUFS) {
			t.Errorf("from call %d, %s, on: %v", n, call, err)
		}
	}
}
