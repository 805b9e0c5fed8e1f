// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/device"
)

// The ports of a cluster's networks are devices as all others, also where frames take their time.
//
// Mutations it catches: Close does not wake; Receive leaves the port unarmed at the end of what has
// arrived, or does not set the timer for what has not.
//
// Proves: stacktest.faults, device.contract
func TestPortIsADevice(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "delayed": 10 * time.Microsecond} {
		if testing.Short() && delay > 0 {
			continue // it takes five seconds
		}
		t.Run(name, func(t *testing.T) {
			device.Run(t, func(t *testing.T) (a, b netdev.Device) {
				n := newNetwork(Config{Bearers: 1}, 2, false)
				(&Cluster{net: n}).All().Delay(delay)
				return must.Get(n.port(0, 0)), must.Get(n.port(0, 1))
			})
		})
	}
}
