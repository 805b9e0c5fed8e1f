// SPDX-License-Identifier: Apache-2.0

package idle

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// An idle node sleeps over every carrier, a program's own and a daemon's, alone and with a
// peer. By the first count each node has sent more discovery messages than it takes to
// distrust its device, and those of a multicast group came back to it.
//
// It fails if wake-ups that come seldom count as false, or if a device that is not
// listened to is asked every millisecond for ever.
//
// Proves: daemon.sleeps
func TestIdleNodesSleep(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	samples, err := Measure(t.Context(), Options{Settle: 4 * time.Second, For: 2 * time.Second})
	if errors.Is(err, os.ErrPermission) {
		tier.Missing(t, "needs root:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.Err != nil {
			t.Errorf("%+v", s)
		} else if s.WakeUps > s.Limit() {
			t.Errorf("%s, daemon %v, %d peers: %.1f wake-ups a second, limit %v", s.Carrier, s.Daemon, s.Peers, s.WakeUps, s.Limit())
		}
	}
	Rows(samples).Write(t.Output())
}
