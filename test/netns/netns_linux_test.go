// SPDX-License-Identifier: Apache-2.0

package netns_test

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/netns"
)

// interfaces names those of the calling thread's namespace.
func interfaces(t *testing.T) (names []string) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

func TestVethJoinsTwoNamespaces(t *testing.T) {
	netns.Require(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := interfaces(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 9000)
	for _, c := range []struct {
		ns   *netns.NS
		want string
	}{{a, "left"}, {b, "right"}} {
		c.ns.Do(func() {
			if got, want := interfaces(t), slices.Sorted(slices.Values([]string{"lo", c.want})); !slices.Equal(got, want) {
				t.Errorf("inside %s: got %v, want %v", c.ns.Name, got, want)
			}
			ifi, err := net.InterfaceByName(c.want)
			if err != nil {
				t.Fatal(err)
			}
			if ifi.MTU != 9000 || ifi.Flags&net.FlagUp == 0 || ifi.Flags&net.FlagRunning == 0 {
				t.Errorf("%s: got MTU %d, %v, want 9000, up and running", c.want, ifi.MTU, ifi.Flags)
			}
			if addrs, err := ifi.Addrs(); err != nil || len(addrs) != 0 {
				t.Errorf("%s: got addresses %v, %v, want none", c.want, addrs, err)
			}
		})
		if got := c.ns.Run("ip", "-brief", "link"); !strings.Contains(got, c.want) {
			t.Errorf("ip in %s: got %q, want %s in it", c.ns.Name, got, c.want)
		}
	}
	if got := interfaces(t); !slices.Equal(got, before) {
		t.Errorf("outside: got %v, want %v as before", got, before)
	}
}

func TestWaitCarrierSeesTheOtherEndGoDown(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	b.Run("ip", "link", "set", "dev", "right", "down")
	a.WaitCarrier("left", false)
	b.Run("ip", "link", "set", "dev", "right", "up")
	a.WaitCarrier("left", true)
}

func TestDoComesBack(t *testing.T) {
	netns.Require(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	where := func() string {
		s, err := os.Readlink("/proc/thread-self/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	home := where()
	a, b := netns.New(t), netns.New(t)
	if got := where(); got != home {
		t.Fatalf("after New: got %v, want %v", got, home)
	}
	a.Do(func() {
		in := where()
		b.Do(func() {
			if got := where(); got == in || got == home {
				t.Errorf("nested Do: got %v, want neither %v nor %v", got, in, home)
			}
		})
		if got := where(); got != in {
			t.Errorf("after nested Do: got %v, want %v", got, in)
		}
		// A child begins where its parent's thread is.
		out, err := exec.Command("readlink", "/proc/self/ns/net").Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != in {
			t.Errorf("child inside Do: got %v, %v, want %v", got, err, in)
		}
	})
	func() {
		defer func() { recover() }()
		a.Do(func() { panic("inside") })
	}()
	if got := where(); got != home {
		t.Errorf("after a panic inside Do: got %v, want %v", got, home)
	}
}
