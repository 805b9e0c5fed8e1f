// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"testing"
	"time"
)

// What ends a run is the pauses of a sender, however long its sends take: on a slow carrier
// each takes longer than a pause may be, and in a run one of many hands over all that waited.
func TestSlowSendsAreNoPauses(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name              string
		pause, send, many time.Duration // between sends; of one alone, and of one that hands over what waited
		sendsInRow        bool
	}{
		{"fast carrier", us / 2, 2 * us, 10 * us, true},
		{"slow carrier", us / 2, 12 * us, 60 * us, true},
		{"some work between sends", 3 * us, 2 * us, 10 * us, true},
		{"pauses", 5 * us, 2 * us, 10 * us, false},
		{"pauses on a slow carrier", 5 * us, 12 * us, 60 * us, false},
	} {
		n := &localNode{}
		now, waits, held := time.Second, 0, 0
		for i := range 1000 {
			at := now
			if n.sendsInRow > batchAfter && n.sendsInRow%batchClock != 0 {
				at = n.latest // as sendTime does
			}
			n.latest = at
			if n.inBatch(at, 1000) {
				held++
				now += us / 4
				if waits++; waits%24 == 0 {
					now += c.many
					n.resume(now)
				}
			} else {
				now += c.send
				n.resume(now)
			}
			now += c.pause
			if c.sendsInRow && i > batchAfter && n.sendsInRow <= batchAfter {
				t.Fatalf("%s: the run ended before send %d", c.name, i)
			}
		}
		if !c.sendsInRow && held > 0 {
			t.Errorf("%s: %d of 1000 messages waited for others", c.name, held)
		}
	}
}
