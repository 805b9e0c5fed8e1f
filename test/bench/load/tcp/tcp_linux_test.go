// SPDX-License-Identifier: Apache-2.0

package tcp_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/kernel"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/bench/load/tcp"
	"github.com/utipc/utipc/test/tier"
)

// Proves: bench.loads
func TestEveryWait(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for i, wait := range []tcp.Wait{tcp.Spin, tcp.Block, tcp.GoNet} {
		t.Run(string(wait), func(t *testing.T) {
			var ends [2]*kernel.Stream
			for end := range ends {
				var err error
				ends[end], err = tcp.Open(tcp.Config{End: end, Addr: "127.71.0." + string(rune('1'+i)), Wait: wait})
				if err != nil {
					t.Fatal(err)
				}
				defer ends[end].Close()
			}
			loadtest.Check(t, ends[0], ends[1], load.Job{Size: 64, For: 20 * time.Millisecond})
		})
	}
}

// Proves: bench.loads
func TestRefusals(t *testing.T) {
	if _, err := tcp.Open(tcp.Config{Addr: "fe80::1"}); err == nil {
		t.Error("an IPv6 address: got no error")
	}
}
