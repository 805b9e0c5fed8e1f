// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A safeBuffer is a bytes.Buffer that a logger's goroutine may write to.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// The life of keys by the API: set while nodes talk, changed on demand, flushed; what
// each step answers; and the key is in no log and no status.
//
// Proves: keys.node
func TestKeysByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log safeBuffer
		h := hub.New(hub.Config{})
		cfg := stack.Config{Wait: stack.Sleep, Encryption: stack.Encryption{Expected: true, Migration: true}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		a, b := openOn(t, h, 1, cfg), openOn(t, h, 2, cfg)
		echo(t, listen(t, b, echoService))
		if err := a.WaitFor(within(t), echoService); err != nil {
			t.Fatal(err)
		}
		c := listen(t, a, nil)
		defer c.Close()
		trip := func(when string) {
			t.Helper()
			c.SetDeadline(time.Now().Add(testTimeout))
			buf := make([]byte, 64)
			if _, err := c.WriteTo(buf, echoService); err != nil {
				t.Fatal(when, err)
			}
			if _, _, err := c.ReadFrom(buf); err != nil {
				t.Fatal(when, err)
			}
		}
		trip("plain")
		if err := a.Admin().Rekey(context.Background()); !errors.Is(err, seal.ErrNoKey) {
			t.Errorf("rekey without a key: got %v", err)
		}
		master, err := stack.MasterKey("0x000102030405060708090a0b0c0d0e0f10111213")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []*stack.Node{a, b} {
			if err := n.Admin().SetKey(context.Background(), master); err != nil {
				t.Fatal(err)
			}
		}
		trip("master key")
		if x := must.Get(a.Admin().Encryption(context.Background())); !x.Working || x.Slots[0].State != seal.Master || x.Strict {
			t.Errorf("with a master key: %+v", x)
		}
		for _, n := range []*stack.Node{a, b} { // all have it now
			if err := n.Admin().SetMigration(context.Background(), false); err != nil || !must.Get(n.Admin().Encryption(context.Background())).Strict {
				t.Errorf("migration ended: got %v, strict %v", err, must.Get(n.Admin().Encryption(context.Background())).Strict)
			}
		}
		if err := a.Admin().Rekey(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := a.Admin().Rekey(context.Background()); !errors.Is(err, seal.ErrBusy) {
			t.Errorf("rekey at once again: got %v", err)
		}
		trip("two keys")
		<-time.After(30 * time.Second)
		trip("own key")
		if x := must.Get(a.Admin().Encryption(context.Background())); x.Slots[1].State != seal.Active || x.Slots[1].Users != 1 || x.Sealing.KeysSent == 0 {
			t.Errorf("after rekeying: %+v", x)
		}
		if x := must.Get(b.Admin().Encryption(context.Background())); x.Peers[0].Slots[1].State != seal.Active || x.Sealing.KeysTaken != 1 {
			t.Errorf("the other: %+v", x)
		}
		status := fmt.Sprintf("%+v %#v", must.Get(a.Admin().Encryption(context.Background())), must.Get(b.Admin().Encryption(context.Background())))
		for _, n := range []*stack.Node{a, b} {
			if err := n.Admin().FlushKeys(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		trip("keys flushed")
		for _, n := range []*stack.Node{a, b} {
			for _, l := range must.Get(n.Admin().Links(context.Background())) {
				if l.Resets != 0 || !l.Up {
					t.Errorf("link %s: up %v, %d resets", l.Name, l.Up, l.Resets)
				}
			}
		}
		for _, secret := range []string{"000102030405", "[0 1 2 3 4 5", "0x0, 0x1, 0x2", "\x00\x01\x02\x03"} {
			if strings.Contains(log.String()+status, secret) {
				t.Errorf("a key is in the log or the status: %q", secret)
			}
		}
		for _, told := range []string{"key received", "key in use", "peer's key in use"} {
			if !strings.Contains(log.String(), told) {
				t.Errorf("the log does not tell %q:\n%s", told, log.String())
			}
		}
	})
}

// The first key of nodes that did not expect any restarts their links once.
//
// Proves: keys.node
func TestFirstKeyRestartsLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		a, b := openOn(t, h, 1, stack.Config{Wait: stack.Sleep}), openOn(t, h, 2, stack.Config{Wait: stack.Sleep})
		<-time.After(5 * time.Second)
		for _, n := range []*stack.Node{a, b} {
			if err := n.Admin().SetKey(context.Background(), clusterKey(t)); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(10 * time.Second)
		for _, n := range []*stack.Node{a, b} {
			l := must.Get(n.Admin().Links(context.Background()))
			if len(l) != 1 || !l[0].Up || l[0].MTU != 1500-32 {
				t.Errorf("links: %+v", l)
			}
			if x := must.Get(n.Admin().Encryption(context.Background())); !x.Working || x.Keys.Opened == 0 {
				t.Errorf("%+v", x)
			}
		}
	})
}

// What cannot be a key is refused, and so is a bearer too small.
//
// Proves: keys.node
func TestKeysRefused(t *testing.T) {
	for _, text := range []string{"", "short", "0x00", "0x0001", strings.Repeat("k", 21), strings.Repeat("k", 37), "0x" + strings.Repeat("g", 40)} {
		if _, err := stack.ClusterKey(text); !errors.Is(err, seal.ErrKey) || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%d characters: got %v", len(text), err)
		}
	}
	h := hub.New(hub.Config{})
	n := openOn(t, h, 1, stack.Config{})
	if err := n.Admin().SetKey(context.Background(), stack.Key{}); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("no key: got %v", err)
	}
	p, err := hub.New(hub.Config{MTU: 131}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{p}, Encryption: stack.Encryption{Expected: true}}); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("MTU 131: got %v", err)
	}
	if err := n.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := n.Admin().SetKey(context.Background(), clusterKey(t)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}
