// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon/bearers"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/settings"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/shortage"
	"github.com/utipc/utipc/xdp"
)

// shortages are what may be lacking, and a word of the remedy that is named then.
var shortages = []struct {
	errno  syscall.Errno
	remedy string
}{
	{syscall.EMFILE, "LimitNOFILE="},
	{syscall.ENFILE, "fs.file-max"},
	{syscall.ENOMEM, "LimitMEMLOCK="},
	{syscall.ENOBUFS, "LimitMEMLOCK="},
}

// A shortHost brings one bearer up on a thread whose system calls fail, and down again.
type shortHost struct {
	t      *testing.T
	ns     *netns.NS
	thread *shortage.Thread
	node   *stack.Node
	bearer settings.Bearer
	log    bytes.Buffer
	had    map[string]int
}

// settle carries out what is asked for until done says so; the time of waiting passes at once.
func (h *shortHost) settle(k *keeper, what string, done func(b admin.BearerStatus) bool) {
	for range 200 {
		k.act(h.t.Context())
		b := admin.BearerStatus{}
		if all := must.Get(h.node.Admin().Bearers(h.t.Context())); len(all) > 0 {
			b = all[0]
		}
		if done(b) {
			return
		}
		k.start = k.start.Add(-max(k.r.Deadline()-k.now(), 0))
		k.r.HandleTimeout(k.now())
	}
	h.t.Errorf("%s: not reached\n%s", what, &h.log)
}

// A telling is what was said of a shortage.
type telling struct {
	blind          bool   // interfaces could not be looked at
	reason, remedy string // of the bearer that waits
	driver         string // which it got in the end
}

// bring brings the bearer up while calls fail, until that was told, and then down again.
func (h *shortHost) bring(what string) (told telling) {
	h.log.Reset()
	k := newKeeper(slog.New(slog.NewTextHandler(&h.log, nil)))
	k.node = h.node
	w := settingsWish(h.bearer)
	k.kept[w.ID] = &keptBearer{open: func() (d stack.Bearer, err error) {
		return openSetBearer(h.bearer, settings.Node{NetID: 4711, Chunks: 512, MTU: 1500})
	}}
	k.r.Want(k.now(), []bearers.Wish{w})
	h.settle(k, what+": up or told", func(b admin.BearerStatus) bool {
		told.blind = told.blind || k.blind
		if b.State == bearers.Waiting.String() {
			told.reason, told.remedy = b.Reason, b.Remedy
		}
		return told.blind || told.reason != "" || b.State == bearers.Up.String()
	})
	h.thread.Relent()
	h.settle(k, what+": up in the end", func(b admin.BearerStatus) bool { return b.State == bearers.Up.String() })
	if d, ok := k.kept[w.ID].dev.(xdp.Bearer); ok {
		told.driver = d.Method().String()
	}
	k.r.Want(k.now(), nil)
	h.settle(k, what+": down", func(b admin.BearerStatus) bool { return b.Name == "" })
	return told
}

// holds counts what this process has: descriptors, memory shared with sockets, goroutines, and
// programs on the interface.
func (h *shortHost) holds() map[string]int {
	all := map[string]int{"goroutines": runtime.NumGoroutine()}
	for line := range strings.Lines(descriptors(h.t, os.Getpid())) {
		var n int
		var kind string
		fmt.Sscan(line, &n, &kind)
		all[kind] = n
	}
	all["mapped sockets"] = strings.Count(string(must.Get(os.ReadFile("/proc/self/maps"))), "socket:[")
	h.ns.Do(func() {
		if must.Get(xdp.FindLink("eth0")).Program.ID != 0 {
			all["XDP programs"] = 1
		}
	})
	return all
}

// leaked waits until no more is held than before, and says what is. What tests before this one
// have left behind may still go.
func (h *shortHost) leaked(what string) {
	h.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		has, more := h.holds(), ""
		for kind, n := range has {
			if n > h.had[kind] {
				more += fmt.Sprintf(" %d %s, %d before;", n, kind, h.had[kind])
			}
		}
		if more == "" || h.had == nil {
			h.had = has
			return
		}
		if time.Now().After(end) {
			h.t.Errorf("%s: leaked:%s\n%s", what, more, &h.log)
			h.had = has
			return
		}
	}
}

// Whatever system call of bringing a bearer up lacks descriptors or memory: the bearer says so
// and what helps, is up when the shortage is over, and nothing is left of the attempts. Which
// calls there are is found by having the first fail, the second, and so on until none is left.
// An interface that is closed takes the kernel some 50 ms; there a shortage that lasts begins
// at each seventh call, and with -short any does.
//
// Mutations: netlink.Open or udp.Open does not close what it has
// opened before the failure; findInterface holds a driver that cannot be asked for one with a
// queue; trial holds a shortage for a failure; Wish.failed leaves out ENFILE.
func TestBearerComesUpAfterAnyShortage(t *testing.T) {
	netns.Require(t)
	const some = 7 // no multiple of how many shortages there are
	for name, c := range map[string]struct {
		bearer        settings.Bearer
		once, lasting int // from one call to the next that fails
	}{
		"af_packet":   {settings.Bearer{Medium: "eth", Device: "eth0", Driver: "af_packet"}, 1, some},
		"af_xdp":      {settings.Bearer{Medium: "eth", Device: "eth0", Driver: "af_xdp"}, 1, some},
		"auto":        {settings.Bearer{Medium: "eth", Device: "eth0"}, some, some},
		"udp":         {settings.Bearer{Medium: "udp", Name: "U", Local: "10.9.0.1"}, 1, 1},
		"udp remotes": {settings.Bearer{Medium: "udp", Name: "U", Local: "10.9.0.1", Remotes: []string{"10.9.0.2"}}, 1, 1},
		"udp IPv6":    {settings.Bearer{Medium: "udp", Name: "U", Local: "fd09::1"}, 1, 1},
	} {
		parts := 1
		if testing.Short() {
			c.once, c.lasting = some, some
		} else if c.once == 1 && c.bearer.Medium == "eth" { // most of it waits for the kernel
			parts = 4
		}
		for part := range parts {
			t.Run(fmt.Sprintf("%s, one call, part %d", name, part+1), func(t *testing.T) {
				if inOwnProcess(t) {
					newShortHost(t, c.bearer).sweep(1, 1+part, parts*c.once)
				}
			})
		}
		t.Run(name+", all from one on", func(t *testing.T) {
			if inOwnProcess(t) {
				newShortHost(t, c.bearer).sweep(0, 1, c.lasting)
			}
		})
	}
}

func newShortHost(t *testing.T, bearer settings.Bearer) *shortHost {
	h := &shortHost{t: t, ns: netns.New(t), thread: shortage.Start(t), bearer: bearer}
	netns.VethQueues(t, h.ns, h.ns, "eth0", "eth1", 1500, 2)
	if bearer.Medium == "udp" { // else the interface is the node's alone, and auto takes AF_XDP
		h.ns.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "eth0")
		h.ns.Run("ip", "addr", "add", "fd09::1/64", "dev", "eth0", "nodad")
	}
	h.node = must.Get(stack.Open(t.Context(), stack.Config{NoBearers: true, Address: 0x1001001, Chunks: 512, Wait: stack.Sleep}))
	t.Cleanup(func() { h.node.Close(context.Background()) })
	return h
}

// sweep brings the bearer up again and again: calls fail from the first one on, then from step calls
// later, and so on, count of them each time, or with 0 all that come.
func (h *shortHost) sweep(count, first, step int) {
	h.thread.Do(func() { h.ns.Do(func() { h.sweepHere(count, first, step) }) })
}

func (h *shortHost) sweepHere(count, first, step int) {
	driver := h.bring("without shortage").driver // what is found out once in a process is, here
	h.leaked("without shortage")
	calls := 0
	for n := first; h.lacks(n, count, driver); n += step {
		calls = n
	}
	h.t.Logf("%d calls", calls)
	if calls < 50 && !h.t.Failed() { // there are a hundred and more
		h.t.Errorf("only %d calls have failed", calls)
	}
}

// lacks brings the bearer up with a shortage, and reports whether that made a call fail.
func (h *shortHost) lacks(n, count int, driver string) bool {
	s := shortages[n%len(shortages)]
	what := fmt.Sprintf("%v at call %d, %d calls", s.errno, n, count)
	h.thread.Fail(n, count, s.errno)
	told := h.bring(what)
	call, failed := h.thread.Failed()
	if failed == 0 {
		return false
	}
	what += ", " + call
	if h.leaked(what); h.t.Failed() {
		return false // what is leaked takes long to wait for, and there would be more
	}
	said := strings.Contains(h.log.String(), s.errno.Error())
	switch {
	case told.blind && !(said && strings.Contains(h.log.String(), "interfaces not looked at")),
		told.driver != driver && !said:
		h.t.Errorf("%s: %q, not %q; the log says\n%s", what, told.driver, driver, &h.log)
	case told.reason != "" && !(strings.Contains(told.reason, s.errno.Error()) && strings.Contains(told.remedy, s.remedy)):
		h.t.Errorf("%s: the bearer says %q and %q", what, told.reason, told.remedy)
	}
	if !told.blind && told.reason == "" {
		h.t.Logf("%s: up all the same, %s", what, told.driver)
	}
	return true
}
