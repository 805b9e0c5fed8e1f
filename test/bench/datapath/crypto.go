// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/test/bench/gcm"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Crypto is the table of utipc-lab bench crypto.
var Crypto = Sheet{Rows: CryptoRows, Sets: CryptoSets, More: append(aesSpeeds(), cryptoFigures...)}

// aesLeaves is what share of what AES alone would leave is to be reached.
const aesLeaves = 0.8

// aesKeys are the lengths of AES keys, in bytes.
var aesKeys = []int{16, 24, 32}

// sealedMTUs are those that streams are measured at, of a veth and in memory.
var sealedMTUs = []int{1500, 9000, 65000}

// CryptoRows returns the rows of the table of encryption, in order.
func CryptoRows() (rows []Row) {
	add := func(id, what, set, ours string, m Metric) {
		rows = append(rows, Row{ID: id, What: what + ", of what AES leaves of plain", Ours: set + "/" + ours, Beside: set + "/plain", Metric: m, Target: aesLeaves, Sealed: true})
	}
	for _, k := range aesKeys {
		add(fmt.Sprintf("rtt-aes%d", 8*k), fmt.Sprintf("64 B round trip, spinning, AES-%d", 8*k), "rtt", fmt.Sprintf("aes%d", 8*k), TripTime)
	}
	add("rtt-adaptive-aes128", "64 B round trip, Adaptive, AES-128", "adaptive", "aes128", TripTime)
	for _, mtu := range sealedMTUs {
		for _, k := range aesKeys {
			add(fmt.Sprintf("stream-%d-aes%d", mtu, 8*k), fmt.Sprintf("STREAM, writes of 64000 B, MTU %d, AES-%d", mtu, 8*k), fmt.Sprintf("stream %d", mtu), fmt.Sprintf("aes%d", 8*k), Bits)
		}
	}
	for _, k := range aesKeys {
		add(fmt.Sprintf("memory-rtt-aes%d", 8*k), fmt.Sprintf("in memory: 64 B round trip, AES-%d", 8*k), "memory rtt", fmt.Sprintf("aes%d", 8*k), TripTime)
	}
	for _, mtu := range sealedMTUs {
		for _, k := range aesKeys {
			add(fmt.Sprintf("memory-%d-aes%d", mtu, 8*k), fmt.Sprintf("in memory: STREAM, MTU %d, AES-%d", mtu, 8*k), fmt.Sprintf("memory %d", mtu), fmt.Sprintf("aes%d", 8*k), Bits)
		}
	}
	return append(rows,
		Row{ID: "allocations", What: "allocations per message, sealed, both ways", Ours: "rtt/aes128", Also: "rtt/aes256", Count: allocations},
		Row{ID: "wrong-key", What: "sealed goodput with frames of a wrong key at line rate beside", Ours: "wrong key/wrong key", Beside: "wrong key/alone", Metric: Messages, Limit: "wrong key/foreign", Goal: Printed, Kept: true},
		Row{ID: "wrong-key-foreign", What: "the same, beside as many foreign frames", Ours: "wrong key/wrong key", Beside: "wrong key/foreign", Metric: Messages, Goal: Printed})
}

// sealedSet is one exchange plain and with each length of key.
func sealedSet(name string, keys []int, v station.Variant, o worker.Open) Set {
	s := Set{Name: name, Profiled: []string{"plain", "aes128"}}
	o.Counted = true
	add := func(name string, key int) {
		o.Key = key
		v.Name, v.Ends = name, both(o)
		s.Variants = append(s.Variants, v)
	}
	add("plain", 0)
	for _, k := range keys {
		add(fmt.Sprintf("aes%d", 8*k), k)
	}
	return s
}

// CryptoSets returns the sets of the table of encryption.
func CryptoSets() []Set {
	trip := station.Variant{MTU: 1500, Size: small}
	sets := []Set{
		sealedSet("rtt", aesKeys, trip, worker.Open{Load: worker.TIPC, Wait: "spin"}),
		sealedSet("adaptive", aesKeys[:1], trip, worker.Open{Load: worker.TIPC, Wait: "adaptive"}),
		sealedSet("memory rtt", aesKeys, trip, worker.Open{Load: worker.Memory, MTU: 1500}),
	}
	beside := Set{Name: "wrong key"}
	for _, company := range []string{"", "wrong key", "foreign"} {
		name := company
		if name == "" {
			name = "alone"
		}
		beside.Variants = append(beside.Variants, station.Variant{
			Name: name, MTU: 1500, Size: small, OneWay: true, Beside: company,
			Ends: both(worker.Open{Load: worker.TIPC, Wait: "spin", Key: 16}),
		})
	}
	sets = append(sets, beside)
	for _, mtu := range sealedMTUs {
		bulk := station.Variant{MTU: mtu, Size: long, OneWay: true}
		sets = append(sets,
			sealedSet(fmt.Sprintf("stream %d", mtu), aesKeys, bulk, worker.Open{Load: worker.Conns, Socket: "tipc", Wait: "spin"}),
			sealedSet(fmt.Sprintf("memory %d", mtu), aesKeys, bulk, worker.Open{Load: worker.Memory, Socket: "tipc", MTU: mtu}))
	}
	return sets
}

// aesSpeeds are the rows of the core's AES-GCM: a Seal and an Open.
func aesSpeeds() (all []Single) {
	for _, n := range []int{112, 1500, 9000, 65000} {
		for _, k := range aesKeys {
			all = append(all, Single{
				ID: fmt.Sprintf("aes%d-%d", 8*k, n), What: fmt.Sprintf("AES-%d of this core, a seal and an open of a packet of %d B", 8*k, n), Unit: "ns",
				Measure: func(context.Context, Options) (Figure, error) {
					c, err := gcm.New(k)
					if err != nil {
						return Figure{}, err
					}
					seal, open := c.Price(n)
					return Figure{seal + open, fmt.Sprintf("%.0f ns to seal, %.0f ns to open; %.2f GB/s each way at a time", seal, open, 2*float64(n-32)/(seal+open))}, nil
				},
			})
		}
	}
	return all
}

// aes is what AES alone takes of a round trip or of a message one way, in ns, and how
// many sealed frames travel for it. Of a round trip it is in the way at both ends; of
// what goes one way the ends work at a time, and the one that has more counts.
func aes(r station.Run, m Metric) (ns, frames float64) {
	per := func(e, of int) (float64, float64) {
		all := float64(r.Ends[of].All)
		if all == 0 {
			return 0, 0
		}
		return r.Ends[e].AES / all, float64(r.Ends[e].Sealed) / all
	}
	if m == TripTime || m == TripRate {
		a, n := per(0, 0)
		b, k := per(1, 0)
		return a + b, max(n, k)
	}
	a, n := per(0, 0)
	b, k := per(1, 1)
	return max(a, b), max(n, k)
}

// less is a plain figure when each round trip or message of r lasts ns longer.
func (m Metric) less(plain float64, r station.Run, ns float64) float64 {
	switch {
	case plain <= 0:
		return plain
	case m == TripTime:
		return plain + ns
	case m == Bits:
		bits := 8 * float64(r.Ends[1].Bytes) / float64(max(1, r.Ends[1].Count))
		return bits / (bits/plain + ns/1e9)
	}
	return 1 / (1/plain + ns/1e9)
}
