// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// captured reads what a capture has until f has seen enough.
func captured(t testing.TB, c admin.Capture, f func(admin.CapturedFrame) (enough bool)) {
	t.Helper()
	for {
		x, err := c.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if f(x) {
			return
		}
	}
}

// A capture begun on a running node has the frames of both ways, with what becomes of
// them; ended, it leaves the traffic alone.
//
// Proves: tools.capture
func TestCapture(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	c := echoed(t, a, b)
	trip := func(text string) {
		t.Helper()
		buf := make([]byte, 100)
		if _, err := c.WriteTo([]byte(text), echoService); err != nil {
			t.Fatal(err)
		}
		if k, _, err := c.ReadFrom(buf); err != nil || string(buf[:k]) != text {
			t.Fatalf("got %q %v", buf[:k], err)
		}
	}
	trip("before")
	all, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	short, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{Bearers: []string{"eth:eth0"}, Snap: 20})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	trip("in between")
	for _, out := range []bool{true, false} {
		captured(t, all, func(x admin.CapturedFrame) bool {
			if x.Bearer != "eth0" || x.Length != len(x.Data) || x.Length < 30 || x.Comment != "" {
				t.Errorf("got %+v", x)
			}
			if x.Time.Before(began.Add(-time.Minute)) || x.Time.After(time.Now()) {
				t.Errorf("got the time %v", x.Time)
			}
			_, _, err := frame.ParseEthernet(x.Data)
			if err != nil && err != frame.ErrEncrypted {
				t.Errorf("got no frame: %v", err)
			}
			plain := bytes.Contains(x.Data, []byte("in between"))
			if plain && len(sealedWith.Keys) > 0 {
				t.Error("a capture shows what the wire does not")
			}
			return x.Out == out && (plain || len(sealedWith.Keys) > 0)
		})
	}
	captured(t, short, func(x admin.CapturedFrame) bool {
		if len(x.Data) != 20 || x.Length < 30 {
			t.Errorf("snap 20: got %d of %d bytes", len(x.Data), x.Length)
		}
		return true
	})
	short.Close()
	short.Close()
	if _, err := short.Next(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
	}
	trip("after")
	ctx, cancel := context.WithCancel(t.Context())
	other, err := b.Admin().Capture(ctx, admin.CaptureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for err = nil; err == nil; {
		_, err = other.Next(within(t))
	}
	if !errors.Is(err, net.ErrClosed) {
		t.Errorf("its context done: got %v, want %v", err, net.ErrClosed)
	}
}

// A capture says which packets were sent again, and which were dropped for what reason.
//
// Proves: tools.capture
func TestCaptureComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		var nodes [2]*stack.Node
		var wire *fault.Injector
		for i := range nodes {
			d := fault.New(plug(t, h, "eth0", i+1), fault.Config{Seed: 7})
			if i == 0 {
				wire = d
			}
			n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(i + 1), Wait: stack.Sleep, Chunks: 1024, Encryption: sealedWith})
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close(context.Background())
			nodes[i] = n
		}
		a, b := nodes[0], nodes[1]
		sink := listen(t, b, echoService)
		defer sink.Close()
		if err := a.WaitFor(within(t), echoService); err != nil {
			t.Fatal(err)
		}
		out, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		in, err := b.Admin().Capture(t.Context(), admin.CaptureConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		wire.Set(fault.Config{Seed: 7, Out: fault.Faults{Loss: 0.3, Duplicate: 0.2}})
		before, dropped := must.Get(a.Admin().Links(context.Background()))[0].Retransmits, must.Get(b.Admin().Stats(context.Background())).Drops
		c := listen(t, a, nil)
		defer c.Close()
		buf := make([]byte, 2000)
		for i := range 200 {
			if _, err := c.WriteTo(buf[:1000], echoService); err != nil {
				t.Fatal(err)
			}
			if k, _, err := sink.ReadFrom(buf); k != 1000 || err != nil {
				t.Fatalf("message %d: got %d bytes, %v", i, k, err)
			}
		}
		wire.Set(fault.Config{})
		<-time.After(time.Second)
		again := commented(t, out, "retransmission ")
		if want := int(must.Get(a.Admin().Links(context.Background()))[0].Retransmits - before); again != want || want < 20 {
			t.Errorf("got %d frames marked as retransmissions, want %d, some", again, want)
		}
		after, want := must.Get(b.Admin().Stats(context.Background())).Drops, 0
		for i := range after {
			want += int(after[i] - dropped[i])
		}
		if got := commented(t, in, "dropped: "); got != want || got < 20 {
			t.Errorf("got %d frames marked as dropped, want %d, some", got, want)
		}
		if l := out.Lost() + in.Lost(); l != 0 {
			t.Errorf("%d frames were lost", l)
		}
	})
}

// commented ends a capture once all is read, and counts the comments that begin with what.
func commented(t *testing.T, c admin.Capture, what string) (k int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for {
		x, err := c.Next(ctx)
		if err != nil {
			return k
		}
		if strings.HasPrefix(x.Comment, what) {
			k++
		} else if x.Comment != "" {
			t.Errorf("got the comment %q", x.Comment)
		}
	}
}

// A capture that nobody reads keeps what fits, counts the rest, and delays nobody.
func TestCaptureIsLimited(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	sink := listen(t, b, echoService)
	defer sink.Close()
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	few, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{Frames: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer few.Close()
	small, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{Memory: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	c := listen(t, a, nil)
	defer c.Close()
	c.SetDeadline(time.Now().Add(testTimeout))
	sink.SetDeadline(time.Now().Add(testTimeout))
	buf := make([]byte, 2000)
	const rounds = 300
	for range rounds {
		if _, err := c.WriteTo(buf[:1200], echoService); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sink.ReadFrom(buf); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]admin.Capture{"frames": few, "memory": small} {
		if c.Lost() < rounds/2 {
			t.Errorf("%s: %d frames were lost, want most of %d", name, c.Lost(), rounds)
		}
		for kept, bytes := 0, 0; name == "frames" && kept < 10 || name == "memory" && bytes <= 1<<16-2000; kept++ {
			x, err := c.Next(within(t))
			if err != nil {
				t.Fatalf("%s: after %d frames, %d bytes: %v", name, kept, bytes, err)
			}
			bytes += len(x.Data)
		}
	}
	for _, cfg := range []admin.CaptureConfig{
		{Snap: -1}, {Snap: 13}, {Frames: -1}, {Frames: 1 << 20}, {Memory: 100}, {Memory: 1 << 30}, {Bearers: []string{"eth7"}},
	} {
		if _, err := a.Admin().Capture(t.Context(), cfg); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%+v: got %v, want %v", cfg, err, syscall.EINVAL)
		}
	}
	var more []admin.Capture
	for range 6 {
		x, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{})
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, x)
	}
	if _, err := a.Admin().Capture(t.Context(), admin.CaptureConfig{}); !errors.Is(err, syscall.EUSERS) {
		t.Errorf("the ninth: got %v, want %v", err, syscall.EUSERS)
	}
	for _, x := range more {
		x.Close()
	}
}

// Captures and watches of a node that ends give what they have, and then end too; the
// node says that it has ended, and why.
//
// Proves: tools.capture
func TestEndOfNode(t *testing.T) {
	t.Parallel()
	n := openBare(t, stack.Config{Address: 1})
	w, err := n.Admin().Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Admin().Capture(context.Background(), admin.CaptureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Admin().AddDevice(within(t), plug(t, hub.New(hub.Config{}), "eth0", 1), admin.BearerConfig{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.Done():
		t.Error("done before its end")
	default:
	}
	if n.Err() != nil {
		t.Errorf("alive: got %v", n.Err())
	}
	if err := n.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	<-n.Done()
	if !errors.Is(n.Err(), net.ErrClosed) {
		t.Errorf("got %v, want %v", n.Err(), net.ErrClosed)
	}
	enabled := 0
	for err = nil; err == nil; {
		var ev admin.NodeEvent
		if ev, err = w.Next(within(t)); ev.Kind == admin.BearerEnabled && ev.Bearer == "eth0" {
			enabled++
		}
	}
	if !errors.Is(err, net.ErrClosed) || enabled != 1 {
		t.Errorf("watch: got %v, the bearer enabled %d times, want %v, once", err, enabled, net.ErrClosed)
	}
	captured(t, c, func(x admin.CapturedFrame) bool { return x.Out }) // discovery
	for err = nil; err == nil; {
		_, err = c.Next(within(t))
	}
	if !errors.Is(err, net.ErrClosed) {
		t.Errorf("capture: got %v, want %v", err, net.ErrClosed)
	}
	c.Close()
	w.Close()
	if _, err := n.Admin().Watch(context.Background()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	if _, err := n.Admin().Capture(t.Context(), admin.CaptureConfig{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	for what, err := range map[string]error{
		"enable": n.Admin().AddDevice(t.Context(), plug(t, hub.New(hub.Config{}), "eth0", 1), admin.BearerConfig{}), "disable": n.Admin().DisableBearer(t.Context(), "eth0"),
		"set bearer": n.Admin().SetBearer(context.Background(), "eth0", admin.BearerConfig{}), "set property": n.Admin().Call(context.Background(), "set-bearer-property", control.PropertyParams{Name: "eth0", Property: control.PropertyWindow, Value: 100}, nil),
		"set medium": n.Admin().SetMedium(context.Background(), "eth", admin.MediumConfig{Window: 100}), "set link": n.Admin().SetLink(context.Background(), 7, "eth0", admin.LinkConfig{Window: 100}),
		"remove": n.Admin().RemovePeer(context.Background(), 7), "statistics": n.Admin().ResetStatistics(context.Background(), "broadcast-link"), "address": n.Admin().SetAddress(context.Background(), 7),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: got %v, want %v", what, err, net.ErrClosed)
		}
	}
}

// Those who watch hear of what happens to bearers, links and peers; who does not read
// loses what is beyond the limit, and is told how much.
//
// Proves: tools.capture
func TestWatch(t *testing.T) {
	t.Parallel()
	company(t, func(t *testing.T, a, b *stack.Node) {
		w, err := a.Admin().Watch(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		next := func() admin.NodeEvent {
			t.Helper()
			ev, err := w.Next(within(t))
			if err != nil {
				t.Fatal(err)
			}
			if ev.Time.IsZero() || ev.Time.After(time.Now()) {
				t.Errorf("got the time %v", ev.Time)
			}
			return ev
		}
		if err := b.Admin().DisableBearer(t.Context(), "eth0"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"link down 1001002 1001001:eth0-1001002:eth0: ended by peer",
			"peer lost 1001002: ended by peer",
		} {
			if got := next().String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		hub2 := hub.New(hub.Config{}) // with nobody else, of whom events would tell, too
		if err := a.Admin().AddDevice(t.Context(), plug(t, hub2, "eth1", 1), admin.BearerConfig{}); err != nil {
			t.Fatal(err)
		}
		if err := a.Admin().DisableBearer(t.Context(), "eth1"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"bearer enabled eth1", "bearer disabled eth1"} {
			if got := next().String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		for range 600 {
			if err := a.Admin().AddDevice(t.Context(), plug(t, hub2, "eth2", 1), admin.BearerConfig{}); err != nil {
				t.Fatal(err)
			}
			if err := a.Admin().DisableBearer(t.Context(), "eth2"); err != nil {
				t.Fatal(err)
			}
		}
		lost := 0
		for range 1024 {
			ev := next()
			lost += int(ev.Lost)
		}
		if lost != 0 {
			t.Errorf("the first 1024 tell of %d lost", lost)
		}
		if err := a.Admin().AddDevice(t.Context(), plug(t, hub2, "eth2", 1), admin.BearerConfig{}); err != nil {
			t.Fatal(err)
		}
		if ev := next(); ev.Lost != 1200-1024 {
			t.Errorf("got %d lost, want %d", ev.Lost, 1200-1024)
		}
		var all []admin.Watch
		for {
			w, err := a.Admin().Watch(context.Background())
			if err != nil {
				if !errors.Is(err, syscall.EUSERS) || len(all) != 255 {
					t.Errorf("after %d: got %v", len(all), err)
				}
				break
			}
			all = append(all, w)
		}
		for _, w := range all {
			w.Close()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for err = nil; err == nil; {
			_, err = w.Next(ctx)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
