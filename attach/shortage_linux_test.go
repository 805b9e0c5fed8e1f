// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

// withoutDescriptors has this process open no descriptor while f runs.
func withoutDescriptors(t *testing.T, f func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// ringsHeld counts the rings that this process has mapped.
func ringsHeld(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), "memfd:utipc-ring")
}

// A daemon without descriptors or memory refuses a ring with the system's error, and the
// connection goes on without.
// Mutations: ServeRing answers ENOMEM to every error of the system; MakeRing does not close
// the descriptor of what cannot be mapped.
func TestRingRefusedForShortage(t *testing.T) {
	for _, c := range []struct {
		what string
		at   callfault.Call
		want syscall.Errno
	}{
		{"descriptors of the process", 0, syscall.EMFILE},
		{"descriptors of the host", callfault.RingMake, syscall.ENFILE},
		{"memory for the file", callfault.RingMake, syscall.ENOMEM},
		{"memory to map", callfault.RingMap, syscall.ENOMEM},
	} {
		a, b := pair(t)
		descs, held := descriptors(t), ringsHeld(t)
		h := Header{Op: OpRing, ID: 5, Arg0: MinRing}
		serve := func() {
			refused, err := b.ServeRing(&h)
			if err != nil || !errors.Is(refused, c.want) {
				t.Errorf("%s: refused %v, %v; want %v", c.what, refused, err, c.want)
			}
			if err := b.RefuseRing(&h, refused); err != nil {
				t.Error(err)
			}
		}
		if c.at == 0 {
			withoutDescriptors(t, serve)
		} else {
			refuse(t, c.at, c.want, serve)
		}
		_, fd, err := a.ReadFD(&h, nil)
		if err != nil || fd != -1 || h.Errno != c.want || h.ID != 5 {
			t.Errorf("%s: answer %v, descriptor %d, %v; want %v", c.what, &h, fd, err, c.want)
		}
		if err := a.TakeRing(&h, fd); err != c.want || a.HasRing() || b.HasRing() {
			t.Errorf("%s: taken: %v", c.what, err)
		}
		if err := a.Write(&h, nil); err != nil {
			t.Error(err)
		}
		if _, err := b.Read(&h, nil); err != nil {
			t.Error(err)
		}
		if d, r := descriptors(t), ringsHeld(t); d > descs || r > held {
			t.Errorf("%s: %d descriptors and %d rings, %d and %d before", c.what, d, r, descs, held)
		}
	}
}

// A program without descriptors or memory for the ring that it was granted is told so.
// Mutations: TakeRing does not look whether a descriptor was lost; MapRing does not close it.
func TestRingNotTakenForShortage(t *testing.T) {
	for _, want := range []syscall.Errno{syscall.EMFILE, syscall.ENOMEM} {
		descs, held := descriptors(t), ringsHeld(t)
		a, b := pair(t)
		h := Header{Op: OpRing, ID: 5, Arg0: MinRing}
		if refused, err := b.ServeRing(&h); err != nil || refused != nil {
			t.Fatal(refused, err)
		}
		fd := -1
		var err error
		read := func() { _, fd, err = a.ReadFD(&h, nil) }
		if want == syscall.EMFILE {
			withoutDescriptors(t, read)
		} else {
			read()
		}
		if err != nil || h.Errno != 0 {
			t.Fatal(&h, err)
		}
		refuse(t, callfault.RingMap, syscall.ENOMEM, func() { err = a.TakeRing(&h, fd) })
		if !errors.Is(err, want) || a.HasRing() {
			t.Errorf("got %v, want %v", err, want)
		}
		a.Close()
		b.Close()
		if d, r := descriptors(t), ringsHeld(t); d > descs || r > held {
			t.Errorf("%v: %d descriptors and %d rings, %d and %d before", want, d, r, descs, held)
		}
	}
}

// refuse has calls of one kind fail while f runs.
func refuse(t *testing.T, which callfault.Call, with syscall.Errno, f func()) {
	t.Helper()
	callfault.Use(func(c callfault.Call) syscall.Errno {
		if c == which {
			return with
		}
		return 0
	})
	defer callfault.Use(nil)
	f()
}
