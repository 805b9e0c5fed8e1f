// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/test/tier"
)

// openBoth opens both ends, on loopback.
func openBoth(t *testing.T, o worker.Open) (ends [2]load.Load) {
	t.Helper()
	o.Addrs = [2]string{"127.73.0.1", "127.73.0.2"}
	for _, end := range []int{1, 0} {
		var err error
		o.End = end
		ends[end], err = open(t.Context(), o)
		if errors.Is(err, errNoZeroMQ) || errors.Is(err, errNoNNG) {
			tier.Missing(t, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := ends[end].Close(); err != nil {
				t.Errorf("end %d closed: %v", end, err)
			}
		})
	}
	return ends
}

// Each system moves messages both ways, small ones and such as are many packets, job
// after job.
//
// Proves: bench.loads
func TestLoads(t *testing.T) {
	for _, o := range []worker.Open{
		{Load: "grpc", Socket: "tcp"},
		{Load: "grpc-stream", Socket: "tcp"},
		{Load: "nats", Socket: "tcp"},
		{Load: "zeromq", Socket: "tcp"},
		{Load: "zeromq", Socket: "ipc"},
		{Load: "nng", Socket: "tcp"},
		{Load: "nng", Socket: "ipc"},
	} {
		for _, size := range []int{64, 256 << 10} {
			t.Run(fmt.Sprint(o.Load, " ", o.Socket, " ", size), func(t *testing.T) {
				o.Path = filepath.Join(t.TempDir(), "x")
				ends := openBoth(t, o)
				if s := ends[1].Info().Settings; !strings.Contains(s, ".") || strings.Contains(s, "unknown") {
					t.Errorf("got settings %q, want a version", s)
				}
				loadtest.Check(t, ends[0], ends[1], load.Job{Size: size, For: 20 * time.Millisecond})
			})
		}
	}
}

// Proves: bench.loads
func TestRefusals(t *testing.T) {
	for _, o := range []worker.Open{{Load: "carrier pigeons"}, {Load: "grpc", Socket: "ipc"}, {Load: "nats", Socket: "tipc"}, {Load: "zeromq"}, {Load: "nng"}} {
		if _, err := open(t.Context(), o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	ends := openBoth(t, worker.Open{Load: "nats", Socket: "tcp"})
	if _, err := ends[0].Run(t.Context(), load.Job{Kind: load.Ping, Size: roundLen - 1}); err == nil {
		t.Error("a message too short for its round: got no error")
	}
}
