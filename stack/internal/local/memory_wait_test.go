// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A call that waits for more chunks than are free hears of those that come back by
// Release, of which no poll is told, though another call sleeps as the leader.
func TestReleaseWakesWhoWaitsForMemory(t *testing.T) {
	for _, driven := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n, _ := openFake(t, hub.New(hub.Config{}), 1)
			defer n.Close(context.Background())
			c, leader := mustOpen(t, n, nil), mustOpen(t, n, nil)
			if driven {
				go leader.ReadFrom(make([]byte, 1))
				synctest.Wait()
			}
			var held []*stack.Buffer
			for hasMemory(n, c, 60000) {
				b, err := c.NewBuffer(60000)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, b)
			}
			took := make(chan time.Duration)
			var b *stack.Buffer
			go func() {
				var err error
				if b, err = c.NewBuffer(60000); err != nil {
					t.Error(err)
				}
				took <- 0
			}()
			<-time.After(10 * time.Millisecond)
			synctest.Wait()
			began := time.Now()
			held[0].Release()
			<-took
			if d := time.Since(began); d > poll.Retry {
				t.Errorf("driven %v: waited for %v", driven, d)
			}
			b.Release()
			for _, b := range held[1:] {
				b.Release()
			}
		})
	}
}

// hasMemory reports whether a Buffer of so many bytes could be made at once.
func hasMemory(n *stack.Node, c *stack.PacketConn, size int) bool {
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	return insidePacket(c).HasMemory(size)
}
