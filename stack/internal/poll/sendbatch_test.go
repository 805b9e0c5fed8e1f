// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"testing"
	"time"
)

// What ends a run is the pauses of a sender, however long its sends take: on a slow carrier
// each takes longer than a pause may be, and in a run one of many hands over all that waited.
//
// Proves: link.bundles
func TestSlowSendsAreNoPauses(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name              string
		pause, send, many time.Duration // between sends; of one alone, and of one that hands over what waited
		run               bool
	}{
		{"fast carrier", us / 2, 2 * us, 10 * us, true},
		{"slow carrier", us / 2, 12 * us, 60 * us, true},
		{"some work between sends", 3 * us, 2 * us, 10 * us, true},
		{"pauses", 5 * us, 2 * us, 10 * us, false},
		{"pauses on a slow carrier", 5 * us, 12 * us, 60 * us, false},
	} {
		l := &Loop{}
		now, latest, waits, held := time.Second, time.Duration(0), 0, 0
		for i := range 1000 {
			at := now
			if l.sends.inRow > batchAfter && l.sends.inRow%batchClock != 0 {
				at = latest // as SendTime does
			}
			latest = at
			if l.InBatch(at, 1000) {
				held++
				now += us / 4
				if waits++; waits%24 == 0 {
					now += c.many
					l.Resume(now)
				}
			} else {
				now += c.send
				l.Resume(now)
			}
			now += c.pause
			if c.run && i > batchAfter && l.sends.inRow <= batchAfter {
				t.Fatalf("%s: the run ended before send %d", c.name, i)
			}
		}
		if !c.run && held > 0 {
			t.Errorf("%s: %d of 1000 messages waited for others", c.name, held)
		}
	}
}
