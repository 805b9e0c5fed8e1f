// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/test/bench/rounds"

	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Table is the table of utipc-lab bench crypto.
var Table = rounds.Table{Name: "crypto", Title: "Sealed messages", Rows: rows(), Sets: sets(), More: append(aesSpeeds(), figures()...)}

// aesLeaves is what share of what AES alone would leave is to be reached.
const aesLeaves = 0.8

// aesKeys are the lengths of AES keys, in bytes.
var aesKeys = []int{16, 24, 32}

// sealedMTUs are those that streams are measured at, of a veth and in memory.
var sealedMTUs = []int{1500, 9000, 65000}

func rows() (rows []rounds.Comparison) {
	add := func(id, what, set, ours string, m rounds.Metric) {
		rows = append(rows, rounds.Comparison{ID: id, What: what + ", of what AES leaves of plain", Ours: set + "/" + ours, Beside: set + "/plain", Metric: m, Target: aesLeaves, Sealed: true})
	}
	for _, k := range aesKeys {
		add(fmt.Sprintf("rtt-aes%d", 8*k), fmt.Sprintf("64 B round trip, spinning, AES-%d", 8*k), "rtt", fmt.Sprintf("aes%d", 8*k), rounds.TripTime)
	}
	add("rtt-adaptive-aes128", "64 B round trip, Adaptive, AES-128", "adaptive", "aes128", rounds.TripTime)
	for _, mtu := range sealedMTUs {
		for _, k := range aesKeys {
			add(fmt.Sprintf("stream-%d-aes%d", mtu, 8*k), fmt.Sprintf("STREAM, writes of 64000 B, MTU %d, AES-%d", mtu, 8*k), fmt.Sprintf("stream %d", mtu), fmt.Sprintf("aes%d", 8*k), rounds.Bits)
		}
	}
	for _, k := range aesKeys {
		add(fmt.Sprintf("memory-rtt-aes%d", 8*k), fmt.Sprintf("in memory: 64 B round trip, AES-%d", 8*k), "memory rtt", fmt.Sprintf("aes%d", 8*k), rounds.TripTime)
	}
	for _, mtu := range sealedMTUs {
		for _, k := range aesKeys {
			add(fmt.Sprintf("memory-%d-aes%d", mtu, 8*k), fmt.Sprintf("in memory: STREAM, MTU %d, AES-%d", mtu, 8*k), fmt.Sprintf("memory %d", mtu), fmt.Sprintf("aes%d", 8*k), rounds.Bits)
		}
	}
	return append(rows,
		rounds.Comparison{ID: "allocations", What: "allocations per message, sealed, both ways", Ours: "rtt/aes128", Also: "rtt/aes256", Count: rounds.Allocations},
		rounds.Comparison{ID: "wrong-key", What: "sealed goodput with frames of a wrong key at line rate beside", Ours: "wrong key/wrong key", Beside: "wrong key/alone", Metric: rounds.Messages, Limit: "wrong key/foreign", Kept: true},
		rounds.Comparison{ID: "wrong-key-foreign", What: "the same, beside as many foreign frames", Ours: "wrong key/wrong key", Beside: "wrong key/foreign", Metric: rounds.Messages})
}

// sealedSet is one exchange plain and with each length of key.
func sealedSet(name string, keys []int, v station.Variant, o worker.Open) rounds.Set {
	s := rounds.Set{Name: name, Profiled: []string{"plain", "aes128"}}
	o.Counted = true
	add := func(name string, key int) {
		o.Key = key
		v.Name, v.Ends = name, rounds.Ends(o)
		s.Variants = append(s.Variants, v)
	}
	add("plain", 0)
	for _, k := range keys {
		add(fmt.Sprintf("aes%d", 8*k), k)
	}
	return s
}

func sets() []rounds.Set {
	trip := station.Variant{MTU: 1500, Size: rounds.Small}
	sets := []rounds.Set{
		sealedSet("rtt", aesKeys, trip, worker.Open{Load: worker.TIPC, Wait: "spin"}),
		sealedSet("adaptive", aesKeys[:1], trip, worker.Open{Load: worker.TIPC, Wait: "adaptive"}),
		sealedSet("memory rtt", aesKeys, trip, worker.Open{Load: worker.Memory, MTU: 1500}),
	}
	beside := rounds.Set{Name: "wrong key"}
	for _, company := range []string{"", "wrong key", "foreign"} {
		name := company
		if name == "" {
			name = "alone"
		}
		beside.Variants = append(beside.Variants, station.Variant{
			Name: name, MTU: 1500, Size: rounds.Small, OneWay: true, Beside: company,
			Ends: rounds.Ends(worker.Open{Load: worker.TIPC, Wait: "spin", Key: 16}),
		})
	}
	sets = append(sets, beside)
	for _, mtu := range sealedMTUs {
		bulk := station.Variant{MTU: mtu, Size: rounds.Long, OneWay: true}
		sets = append(sets,
			sealedSet(fmt.Sprintf("stream %d", mtu), aesKeys, bulk, worker.Open{Load: worker.Conns, Socket: "tipc", Wait: "spin"}),
			sealedSet(fmt.Sprintf("memory %d", mtu), aesKeys, bulk, worker.Open{Load: worker.Memory, Socket: "tipc", MTU: mtu}))
	}
	return sets
}

// aesSpeeds are the rows of the core's AES-GCM: a Seal and an Open.
func aesSpeeds() (all []rounds.Single) {
	for _, n := range []int{112, 1500, 9000, 65000} {
		for _, k := range aesKeys {
			all = append(all, rounds.Single{
				ID: fmt.Sprintf("aes%d-%d", 8*k, n), What: fmt.Sprintf("AES-%d of this core, a seal and an open of a packet of %d B", 8*k, n), Unit: "ns",
				Measure: func(context.Context, rounds.Options) (rounds.Figure, error) {
					c, err := gcm.New(k)
					if err != nil {
						return rounds.Figure{}, err
					}
					seal, open := c.Price(n)
					return rounds.Figure{Value: seal + open, Note: fmt.Sprintf("%.0f ns to seal, %.0f ns to open; %.2f GB/s each way at a time", seal, open, 2*float64(n-32)/(seal+open))}, nil
				},
			})
		}
	}
	return all
}
