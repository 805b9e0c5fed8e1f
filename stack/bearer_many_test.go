// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Many tell one node at once, of the same bearers, and it ends while they do: each gets
// an answer that can be, traffic on another bearer goes on, and all memory comes back.
//
// Proves: socket.bearers
func TestManyTellOneNode(t *testing.T) {
	t.Parallel()
	hubs := [3]*hub.Hub{}
	for i := range hubs {
		hubs[i] = hub.New(hub.Config{})
	}
	a, b := openOn(t, hubs[0], 1, stack.Config{}), openOn(t, hubs[0], 2, stack.Config{})
	echo(t, listen(t, b, echoService))
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, a, nil)
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * testTimeout))
	done := make(chan struct{})
	var talking, telling sync.WaitGroup
	talking.Go(func() {
		buf := make([]byte, 10)
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := c.WriteTo([]byte("x"), echoService); err != nil {
				t.Error(err)
				return
			}
			if _, _, err := c.ReadFrom(buf); err != nil {
				t.Error(err)
				return
			}
		}
	})
	ctx := within(t)
	tell := func(r *rand.Rand) error {
		i := 1 + r.IntN(2)
		name := fmt.Sprint("eth", i)
		switch r.IntN(6) {
		case 0, 1:
			p, err := hubs[i].Port(name, [6]byte{2, 0, 0, 0, byte(i), byte(r.IntN(200))})
			if err != nil {
				return nil // somebody has the address
			}
			return a.Admin().AddDevice(ctx, p, admin.BearerConfig{})
		case 2:
			return a.Admin().DisableBearer(ctx, name)
		case 3:
			return a.Admin().SetBearer(context.Background(), name, admin.BearerConfig{LinkConfig: admin.LinkConfig{Tolerance: time.Duration(1000+r.IntN(1000)) * time.Millisecond}})
		case 4:
			x, err := a.Admin().Capture(ctx, admin.CaptureConfig{Frames: 10, Memory: 1 << 16})
			if err != nil {
				return err
			}
			defer x.Close()
			_, err = x.Next(ctx)
			return err
		}
		w, err := a.Admin().Watch(context.Background())
		if err != nil {
			return err
		}
		must.Get(a.Admin().Bearers(context.Background()))
		must.Get(a.Admin().Links(context.Background()))
		return w.Close()
	}
	var mu sync.Mutex
	answers := map[string]int{}
	hands := func(rounds int) {
		for seed := range uint64(4) {
			telling.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(rounds)))
				for range rounds {
					err := tell(r)
					switch {
					case err == nil, errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EUSERS), errors.Is(err, net.ErrClosed):
					default:
						t.Errorf("got %v", err)
					}
					mu.Lock()
					answers[fmt.Sprint(stack.Errno(err))]++
					mu.Unlock()
				}
			})
		}
	}
	hands(100)
	telling.Wait()
	close(done)
	talking.Wait()
	hands(100)
	if err := a.Close(context.Background()); err != nil {
		t.Error(err)
	}
	telling.Wait()
	t.Logf("answers: %v", answers)
	if answers["errno 0"] == 0 || answers[syscall.EINVAL.Error()] == 0 {
		t.Errorf("got %v: nothing was done, or nothing refused", answers)
	}
}
