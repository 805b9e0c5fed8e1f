// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
)

var rate = regexp.MustCompile(`([0-9.]+) Mbits/sec +receiver`)

// mbits is the rate that iperf3 prints, in Mbit/s.
func mbits(t testing.TB, out string) float64 {
	t.Helper()
	all := rate.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		t.Fatal(out)
	}
	v, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// BenchmarkTCP prints the rate of iperf3 between two nodes, beside the kernel's TCP on the same veth pair: five
// rounds, one after the other, and the median of their ratios.
//
//	go test -run '^$' -bench TCP -benchtime 1x ./test/tcp
func BenchmarkTCP(b *testing.B) {
	iperf := installed(b, "iperf3", "iperf3")
	h := two(b)
	h[0].withKernel()
	h[1].withKernel()
	h[0].serve(b, "Server listening", iperf, "-s", "--forceflush", "-p", "5201") // on both: it listens on any address
	measure := func(address string) float64 { return mbits(b, h[1].run(b, iperf, "-c", address, "-t", "1", "-f", "m")) }
	for range b.N {
		var kernels, ours, ratios []float64
		for range 5 {
			k, o := measure(h[0].kernel), measure(h[0].address)
			kernels, ours, ratios = append(kernels, k), append(ours, o), append(ratios, o/k)
		}
		slices.Sort(kernels)
		slices.Sort(ours)
		slices.Sort(ratios)
		b.Logf("%.2f (%.2f to %.2f) of TCP; %.0f of %.0f Mbit/s", ratios[2], ratios[0], ratios[4], ours[2], kernels[2])
	}
}
