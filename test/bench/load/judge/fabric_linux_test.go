// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// What fi_pingpong and ucx_perftest print is understood.
//
// Mutations it catches: halves takes milliseconds; the server is given an address, or ucx_perftest runs with the
// sysfs of the host (both by running out of time).
//
// Proves: bench.loads
func TestFabrics(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	for _, c := range []struct {
		name   string
		open   func(Config) (load.Load, error)
		udp    bool
		median bool
	}{{"libfabric TCP", OpenPingpong, false, false}, {"libfabric UDP", OpenPingpong, true, false}, {"UCX", OpenPerftest, false, true}} {
		t.Run(c.name, func(t *testing.T) {
			ends := openBoth(t, c.open, c.udp)
			ns := netns.New(t)
			ns.Run("ip", "link", "set", "lo", "up")
			ends[0], ends[1] = within{ends[0], ns}, within{ends[1], ns}
			began := time.Now()
			got, _ := loadtest.Run(t, ends[0], ends[1], false, load.Job{Size: 100, For: time.Millisecond})
			if got.Count != fabricTrips || got.Bytes != 100*fabricTrips || got.Elapsed < fabricTrips*time.Microsecond || got.Elapsed > time.Since(began) {
				t.Errorf("got %+v after %v, want %d round trips of 100 bytes", got, time.Since(began), fabricTrips)
			}
			if (got.P50 > 0) != c.median || c.median && (got.P50 < time.Microsecond || got.P50 > got.Elapsed) {
				t.Errorf("median %v", got.P50)
			}
		})
	}
}

// testpmd sends and receives through both drivers.
//
// Mutations it catches: the sender gets the receiver's mode; run does not end testpmd when it has
// enough (both by running out of time).
//
// Proves: bench.loads
func TestTestpmd(t *testing.T) {
	tier.SkipShort(t, "network namespaces, and a machine to itself: it measures")
	netns.Require(t)
	for _, driver := range []string{"af_packet", "af_xdp"} {
		t.Run(driver, func(t *testing.T) {
			names := [2]string{"left", "right"}
			spaces := [2]*netns.NS{netns.New(t), netns.New(t)}
			netns.Veth(t, spaces[0], spaces[1], names[0], names[1], 1500)
			var ends [2]load.Load
			for i, ns := range spaces {
				l := openBoth(t, func(c Config) (load.Load, error) {
					c.Iface = names[i]
					return OpenTestpmd(c, driver)
				}, false)[i]
				ends[i] = within{l, ns}
			}
			_, got := loadtest.Run(t, ends[0], ends[1], true, load.Job{Size: 100, For: time.Millisecond})
			if got.Count == 0 || got.Bytes != 100*got.Count || got.Elapsed != time.Second {
				t.Errorf("got %+v, want a second's frames of 100 bytes", got)
			}
		})
	}
}

// A Load whose jobs run in a network namespace.
type within struct {
	load.Load
	ns *netns.NS
}

func (w within) Run(ctx context.Context, j load.Job) (r load.Result, err error) {
	w.ns.Do(func() { r, err = w.Load.Run(ctx, j) })
	return r, err
}

// What is no result is refused, a transfer is half a round trip, and the first second of testpmd does not
// count.
//
// Mutations it catches: halves takes a half for a whole; line counts the first second.
//
// Proves: bench.loads
func TestFabricRefusals(t *testing.T) {
	if _, err := OpenTestpmd(Config{}, "i40e"); err == nil {
		t.Error("testpmd with a driver there is not: got no error")
	}
	for _, out := range []string{"", "bytes #sent\n", "64      20k     =19k     2m        0.4s     3.20       10.50      0.10\n", "64      20k     =20k     2m        0.4s     3.20       0.00      0.10\n"} {
		if r, err := parsePingpong([]byte(out), 64); err == nil {
			t.Errorf("fi_pingpong printed %q: got %+v", out, r)
		}
	}
	for parse, out := range map[*func([]byte, int) (load.Result, error)]string{
		new(parsePingpong): "64      20k     =20k     2m        0.4s     3.20       10.50      0.10\n",
		new(parsePerftest): "Final: 20000 5.4 8.4 10.5 7.21\n",
	} {
		if r, err := (*parse)([]byte(out), 64); err != nil || r.Elapsed != 420*time.Millisecond || r.Count != 20_000 {
			t.Errorf("%q: got %+v, %v", out, r, err)
		}
	}
	for _, out := range []string{"", "Final:\n", "Final: 20000 5.4 8.4 0.0 7.21\n"} {
		if r, err := parsePerftest([]byte(out), 64); err == nil {
			t.Errorf("ucx_perftest printed %q: got %+v", out, r)
		}
	}
	m := testpmdMeter{size: 100, seconds: 2}
	for i, c := range []struct {
		line string
		want bool
	}{
		{"  Rx-pps:            0          Rx-bps:            0", false},
		{"  Rx-pps:          500          Rx-bps:            0", false},
		{"  Tx-pps:          900          Tx-bps:            0", false},
		{"  Rx-pps:           70          Rx-bps:            0", false},
		{"  Rx-pps:            0          Rx-bps:            0", true},
	} {
		if _, err := m.result(); err == nil {
			t.Errorf("a result after %d lines", i)
		}
		if got := m.line(c.line); got != c.want {
			t.Errorf("line %d: enough: %v", i, got)
		}
	}
	if r, err := m.result(); err != nil || r.Count != 70 || r.Bytes != 7000 || r.Elapsed != 2*time.Second {
		t.Errorf("got %+v, %v", r, err)
	}
}
