// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/xdp"
)

// What a device was opened on is what FindLink finds, until something changes; and what
// changes is announced. Fails when FindLink or Standing leaves the field out, and when
// WatchNews subscribes to fewer groups.
func TestStandingAndNews(t *testing.T) {
	d := newBed(t, 1500)
	x := openXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: xdp.ModeGeneric})
	told := make(chan struct{}, 1024)
	d.a.Do(func() {
		n, err := xdp.WatchNews(func() { told <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
	})
	find := func() (l xdp.Link) {
		t.Helper()
		var err error
		d.a.Do(func() { l, err = xdp.FindLink(nameA) })
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	after := func(what string, changed func(l xdp.Link) bool, command ...string) {
		t.Helper()
		for len(told) > 0 {
			<-told
		}
		d.a.Run("ip", command...)
		select {
		case <-told:
		case <-time.After(testTimeout):
			t.Fatalf("%s was not announced", what)
		}
		if l := find(); !changed(l) {
			t.Errorf("after %s: got %+v", what, l)
		}
	}
	s, l := x.Standing(), find()
	if s.Index != l.Index || s.MAC.String() != l.Address || s.Queues != l.Queues.Value.RX || s.Program == 0 || s.Program != l.Program.ID {
		t.Errorf("got a device on %+v, want that of %+v", s, l)
	}
	after("an address", func(xdp.Link) bool { return true }, "addr", "add", "10.7.0.1/24", "dev", nameA)
	after("another of IPv6", func(xdp.Link) bool { return true }, "addr", "add", "fd07::1/64", "dev", nameA, "nodad")
	after("another MAC", func(l xdp.Link) bool { return l.Address == "02:00:00:00:aa:01" }, "link", "set", "dev", nameA, "address", "02:00:00:00:aa:01")
	after("going down", func(l xdp.Link) bool { return !l.Up && l.Losses > 0 }, "link", "set", "dev", nameA, "down")
	x.Close()
	if l := find(); l.Program.ID != 0 {
		t.Errorf("closed: got %+v, want no program", l)
	}
}
