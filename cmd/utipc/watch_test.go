// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// What is there, and what comes and goes: here, and as another node sees it.
//
// Proves: tools.small
func TestWatch(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		c, err := all[1].ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 17})
		if err != nil {
			t.Fatal(err)
		}
		if err := all[0].WaitFor(t.Context(), stack.Service{Type: 18888, Instance: 17}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, at := range []string{"", "1001002"} {
			w := watcher{only: "node,link,name", count: 4, at: at, timeout: time.Minute}
			if err := w.check([]string{"18888"}); err != nil {
				t.Fatal(err)
			}
			out.Reset()
			if err := w.run(t.Context(), all[0], &out); err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				_, event, _ := strings.Cut(strings.TrimSpace(line), " ") // without the time
				got = append(got, event)
			}
			slices.Sort(got)
			want := []string{"link 1001002 bearer 0 up", "name 18888:17 published by " + c.LocalAddr().String(), "node 1001001 up", "node 1001002 up"}
			if at != "" {
				want[0] = "link 1001001 bearer 0 up"
			}
			if !slices.Equal(got, want) {
				t.Errorf("at %q: got %q, want %q", at, got, want)
			}
		}
		w := watcher{only: "name", changes: true, json: true, count: 2, timeout: time.Minute}
		if err := w.check([]string{"18888:10-20"}); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		done := make(chan error, 1)
		go func() { done <- w.run(t.Context(), all[0], &out) }()
		for watching := true; watching; { // names come and go until it has told of one: those before it began it does not
			p, err := all[1].ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 18})
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				watching = false
			case <-time.After(time.Millisecond):
			}
		}
		var up, down watchEvent
		d := json.NewDecoder(&out)
		if err := errors.Join(d.Decode(&up), d.Decode(&down)); err != nil || *up.Up == *down.Up || up.Name != "18888:18" || up.Event != "name" || *up.Lower != 18 || up.Type != 18888 {
			t.Errorf("%v, got %+v and %+v", err, up, down)
		}
	})
}

// What the node tells of itself: a link that is lost, and why.
//
// Proves: tools.small
func TestWatchOwn(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		w := watcher{only: "own", count: 2, timeout: time.Minute}
		if err := w.check(nil); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		done := make(chan error, 1)
		go func() { done <- w.run(t.Context(), all[0], &out) }()
		for waiting := true; waiting; { // until it watches
			if err := all[0].Admin().SetLink(context.Background(), 0x1001002, "eth0", stack.LinkConfig{Priority: uint8(10 + time.Now().UnixNano()%10)}); err != nil { // a new priority resets the link
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			case <-time.After(20 * time.Millisecond):
			}
		}
		if got := out.String(); !strings.Contains(got, " this node: link down 1001002 1001001:eth0-1001002:eth0: ") && !strings.Contains(got, " this node: link up 1001002 ") {
			t.Errorf("got %q", got)
		}
	})
}

// A watch ends in peace when its time is over, or it is interrupted; with an error when
// its node ends.
func TestWatchEnds(t *testing.T) {
	all := liveBed(t, 1)
	w := watcher{timeout: 20 * time.Millisecond}
	if err := w.check(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context(), all[0], &bytes.Buffer{}); err != nil {
		t.Errorf("its time is over: %v", err)
	}
	w.timeout = 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.run(ctx, all[0], &bytes.Buffer{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	done := make(chan error)
	go func() { done <- w.run(t.Context(), all[0], &bytes.Buffer{}) }()
	all[0].Close(t.Context())
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the node is closed: %v", err)
	}
}

func TestWatchMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--only", "bird"}, `"bird" is none of`},
		{[]string{"--only", "name"}, "the names are missing"},
		{[]string{"--only", "own", "--at", "1.1.2"}, "nothing of its own"},
		{[]string{"--at", "0"}, "is no address"},
		{[]string{"--count", "-1"}, "must not be negative"},
		{[]string{"18888:2-1"}, "is no service type"},
		{[]string{"18888:17@1001002"}, "is no service type"},
	} {
		if _, errs, code := utipc(nil, append([]string{"watch"}, c.args...)...); code != cmdline.Misuse || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", c.args, code, errs, cmdline.Misuse, c.want)
		}
	}
}
