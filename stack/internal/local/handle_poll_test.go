// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
)

// What a handler says to a socket of its own node wakes who reads there, also when it was
// the last message that the poll before had left, and the poll brings nothing else.
func TestLeftMessageWakesReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		leader, reader := mustOpen(t, n, nil), mustOpen(t, n, nil)
		p, err := n.Handle(t.Context(), nil, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {
			if m.Data[0] == local.HandlersPerPoll {
				w.Send(m.Data)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		go leader.ReadFrom(make([]byte, 1)) // it leads, until the node is closed
		synctest.Wait()
		took := make(chan time.Duration)
		go func() {
			began := time.Now()
			if _, _, err := reader.ReadFrom(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			took <- time.Since(began)
		}()
		synctest.Wait()
		ms := make([]stack.Message, local.HandlersPerPoll+1)
		for i := range ms {
			ms[i] = stack.Message{Data: []byte{byte(i)}, To: p.Addr()}
		}
		if k, err := reader.WriteBatch(ms); k != len(ms) || err != nil {
			t.Fatalf("got %d, %v", k, err)
		}
		if d := <-took; d != 0 {
			t.Errorf("the answer was read after %v", d)
		}
	})
}
