// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
)

func init() {
	// A program that sends to a socket of its own, which it reads as quickly, as fast as
	// it can, until it is told to end.
	children["flood"] = func() int {
		c, err := attach.Dial(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		h, name := attach.HelloRequest(1, 0, "flood")
		c.Write(&h, name)
		c.Read(&h, nil)
		h = attach.Header{Op: attach.OpSocket, ID: 2, Arg0: uint32(attach.KindRDM)}
		c.Write(&h, nil)
		c.Read(&h, nil)
		to := h.Addr
		fmt.Println("ready")
		go func() {
			var h attach.Header
			for {
				if _, err := c.Read(&h, nil); err != nil {
					return
				}
			}
		}()
		go func() {
			data := make([]byte, 1000)
			h := attach.Header{Op: attach.OpSend, Addr: to}
			for c.Write(&h, data) == nil {
			}
		}()
		untilClosed()
		return 0
	}
}

// One program that sends as fast as it can does not keep 99 others from their round trips. How
// long these take is measured by "utipc-lab bench daemon": three times their p99 is the target.
//
// Proves: daemon.limits
func TestFloodDisturbsNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	startChild(t, "daemon", "SOCKET="+path, "PORTS="+strings.Join(ports(t, 2), " "))
	b := &bed{path: path}
	var all []*program
	var own []attach.Sockaddr
	for range 99 {
		p := b.dial(t)
		p.ask(attach.HelloRequest(1, 0, "test"))
		own = append(own, p.socket(attach.KindRDM))
		p.c.SetDeadline(time.Now().Add(5 * time.Minute))
		all = append(all, p)
	}
	startChild(t, "flood", "SOCKET="+path)
	const trips = 4000
	data, buf := make([]byte, 64), make([]byte, 100)
	took := make([]time.Duration, trips)
	for i := range took {
		k := i % len(all)
		h := attach.Header{Op: attach.OpSend, Addr: own[k]}
		began := time.Now()
		if err := all[k].c.Write(&h, data); err != nil {
			t.Fatal(err)
		}
		if n, err := all[k].c.Read(&h, buf); err != nil || n != 64 {
			t.Fatalf("got %v, %v", &h, err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	t.Logf("99 programs in turn beside a flood, p50 and p99: %v, %v", took[trips/2], took[trips*99/100])
}
