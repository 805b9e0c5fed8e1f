// SPDX-License-Identifier: Apache-2.0

package bed_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/tier"
)

// makeBed makes a bed or skips the test, saying why.
func makeBed(t *testing.T, o bed.Options) *bed.Bed {
	tier.SkipShort(t, "network namespaces")
	t.Helper()
	b, err := bed.New(o)
	switch {
	case errors.Is(err, os.ErrPermission):
		tier.Missing(t, "no bed:", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

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

// inside runs f in namespace i; it may end the test.
func inside(t *testing.T, b *bed.Bed, i int, f func()) {
	t.Helper()
	if err := b.Do(i, func() error { f(); return nil }); err != nil {
		t.Fatal(err)
	}
}

func where(t *testing.T) string {
	t.Helper()
	s, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBedIsTwoNamespacesAndACable(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := interfaces(t)
	b := makeBed(t, bed.Options{MTU: 9000, Queues: 3, Names: [2]string{"", "fifteen-letters"}})
	for i, name := range []string{"tipc0", "fifteen-letters"} {
		if got := b.Name(i); got != name {
			t.Errorf("end %d: got %s, want %s", i, got, name)
		}
		inside(t, b, i, func() {
			if got, want := interfaces(t), slices.Sorted(slices.Values([]string{"lo", name})); !slices.Equal(got, want) {
				t.Errorf("namespace %d: got %v, want %v", i, got, want)
			}
			ifi, err := net.InterfaceByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if ifi.MTU != 9000 || ifi.Flags&net.FlagUp == 0 || ifi.Flags&net.FlagRunning == 0 {
				t.Errorf("%s: got MTU %d, %v, want 9000, up and running", name, ifi.MTU, ifi.Flags)
			}
			if addrs, err := ifi.Addrs(); err != nil || len(addrs) != 0 {
				t.Errorf("%s: got addresses %v, %v, want none", name, addrs, err)
			}
			if got := channels(t, name); got != [2]uint32{3, 3} {
				t.Errorf("%s: got %v queues in and out, want 3 each", name, got)
			}
		})
	}
	if got := interfaces(t); !slices.Equal(got, before) {
		t.Errorf("outside: got %v, want %v as before", got, before)
	}
}

// channels counts the queues of an interface, in and out, as ip(8) tells them.
func channels(t *testing.T, name string) [2]uint32 {
	t.Helper()
	out, err := exec.Command("ip", "-details", "link", "show", "dev", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got [2]uint32
	words := strings.Fields(string(out))
	for i, w := range words[:len(words)-1] {
		n := uint32(words[i+1][0] - '0')
		switch w {
		case "numrxqueues":
			got[0] = n
		case "numtxqueues":
			got[1] = n
		}
	}
	return got
}

func TestDoComesBack(t *testing.T) {
	b := makeBed(t, bed.Options{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home := where(t)
	inside(t, b, 0, func() {
		in := where(t)
		inside(t, b, 1, func() {
			if got := where(t); got == in || got == home {
				t.Errorf("nested: got %v, want neither %v nor %v", got, in, home)
			}
		})
		if got := where(t); got != in {
			t.Errorf("after nested: got %v, want %v", got, in)
		}
	})
	func() {
		defer func() { recover() }()
		b.Do(0, func() error { panic("inside") })
	}()
	if got := where(t); got != home {
		t.Errorf("after a panic inside: got %v, want %v", got, home)
	}
	want := errors.New("f's own")
	if err := b.Do(1, func() error { return want }); err != want {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestStart(t *testing.T) {
	b := makeBed(t, bed.Options{})
	var want string
	inside(t, b, 1, func() { want = where(t) })
	var out bytes.Buffer
	cmd := exec.Command("readlink", "/proc/self/ns/net")
	cmd.Stdout = &out
	if err := b.Start(1, cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.TrimSpace(out.String()) != want {
		t.Errorf("the child is in %q, %v, want %v", out.String(), err, want)
	}
}

func TestMacvlan(t *testing.T) {
	b := makeBed(t, bed.Options{})
	for _, name := range []string{"left", "right"} {
		if err := b.Namespace(1).Macvlan(b.Name(1), name); err != nil {
			t.Fatal(err)
		}
	}
	inside(t, b, 1, func() {
		if got, want := interfaces(t), []string{"left", "lo", "right", "tipc1"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	if err := b.Namespace(1).Macvlan("nothing", "more"); err == nil {
		t.Error("on an interface that is not there: got no error")
	}
}

// What is closed leaves no descriptor and no namespace.
//
// Proves: tools.demo
func TestCloseLeavesNothing(t *testing.T) {
	makeBed(t, bed.Options{}).Close() // a first one, for what the runtime opens once
	before := descriptors(t)
	for range 5 {
		b := makeBed(t, bed.Options{})
		b.Close()
		b.Close()
		if err := b.Do(0, func() error { return nil }); err == nil {
			t.Error("a closed bed was entered")
		}
	}
	if _, err := bed.New(bed.Options{Names: [2]string{"a name that is too long", ""}}); err == nil {
		t.Error("a name that is too long: got no error")
	}
	if got := descriptors(t); got > before {
		t.Errorf("got %d descriptors, want %d", got, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
