// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

// demoMulticasts is the number of messages to all three; so many have room unread in a
// socket, as nobody holds a sender of multicast back.
const demoMulticasts = 10000

// multicast sends messages from alpha to everyone who has the shared service, and waits
// until each of the three has all.
func (d *demoRun) multicast() (total time.Duration, err error) {
	c, err := d.nodes[0].node.ListenPacket(d.ctx, "tipcrdm", nil)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	to := demoShared.Range()
	var before [3]int64
	for i, n := range d.nodes {
		before[i] = n.got.Load()
	}
	b := make([]byte, 64)
	d.waits("alpha sends to all three")
	begin := time.Now()
	for range demoMulticasts {
		if _, err := c.WriteTo(b, to); err != nil {
			return 0, err
		}
	}
	for i, n := range d.nodes {
		for n.got.Load()-before[i] < demoMulticasts {
			if d.ctx.Err() != nil || time.Since(begin) > 20*time.Second {
				return 0, fmt.Errorf("%s has %d of %d multicast messages", n.name, n.got.Load()-before[i], demoMulticasts)
			}
			time.Sleep(time.Millisecond)
		}
	}
	total = time.Since(begin)
	d.say("alpha sent %d messages to all of %v: each of three got %[1]d", demoMulticasts, demoShared)
	return total, nil
}
