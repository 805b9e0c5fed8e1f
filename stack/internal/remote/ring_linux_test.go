// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/socket"
)

// A connection whose end comes while it asks for a ring uses the ring that is granted after
// that: the daemon reads the last request there alone, and the program is not told of bytes
// that were not sent. The mutation: useRing does without a ring when the connection has ended.
func TestRingGrantedAfterTheEnd(t *testing.T) {
	for _, ends := range []bool{false, true} {
		s, daemon := closeBed(t, false)
		granted := make(chan error, 1)
		go func() {
			var h attach.Header
			_, err := daemon.Read(&h, nil)
			if err == nil && ends {
				err = daemon.Write(&attach.Header{Op: attach.OpEnd}, nil)
			}
			if err == nil {
				_, err = daemon.ServeRing(&h)
			}
			granted <- err
		}()
		if err := s.line().useRing(context.Background(), Config{Ring: socket.RingAlways}); err != nil || !s.line().conn.HasRing() {
			t.Fatalf("ends %v: got %v, a ring %v", ends, err, s.line().conn.HasRing())
		}
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		said := make(chan error, 1)
		go func() {
			_, err := heard(daemon)
			said <- err
		}()
		if err := s.closeWait(context.Background()); err != nil {
			t.Errorf("ends %v: close: %v", ends, err)
		}
		if err := <-said; err != nil {
			t.Errorf("ends %v: the daemon reads %v", ends, err)
		}
	}
}
