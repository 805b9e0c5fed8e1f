// SPDX-License-Identifier: Apache-2.0

package rounds

import "github.com/utipc/utipc/test/bench/station"

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
