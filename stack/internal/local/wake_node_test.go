// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
)

// Each message within a node wakes who reads, also that for which the sender looks at the
// devices, where nothing has come.
func TestLocalSendsWakeReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		leader, reader, from := mustOpen(t, n, nil), mustOpen(t, n, nil), mustOpen(t, n, nil)
		go leader.ReadFrom(make([]byte, 1))
		synctest.Wait()
		read := make(chan bool)
		go func() {
			for b := make([]byte, 1); ; read <- true {
				if _, _, err := reader.ReadFrom(b); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		began := time.Now()
		for i := range 3 * local.PollAfterSends {
			if _, err := from.WriteTo([]byte("x"), reader.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			<-read
			synctest.Wait()
			if d := time.Since(began); d != 0 {
				t.Fatalf("message %d was read after %v", i, d)
			}
		}
	})
}
