// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"math"
	"strconv"
	"strings"
)

// A scale is a unit with a prefix: 1 of it is so many of the unit itself.
type scale struct {
	of   float64
	name string
}

// scales are those of each unit, the smallest first. A unit that is not here is printed
// as it is called, without prefixes.
var scales = map[Unit][]scale{
	Plain:          {{1, ""}},
	Seconds:        {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}},
	Bytes:          {{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}},
	BitsPerSecond:  {{1, "bit/s"}, {1e3, "kbit/s"}, {1e6, "Mbit/s"}, {1e9, "Gbit/s"}},
	BytesPerSecond: {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}},
	PerSecond:      {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}},
	Percent:        {{1, "%"}},
	Ratio:          {{1, "x"}},
}

// scaleOf is the largest scale that leaves at least 1 of v; the smallest, if none does.
// Half of the last digit printed is added: 999.9 us are 1 ms.
func (u Unit) scaleOf(v float64) scale {
	all := scales[u]
	if all == nil {
		return scale{1, string(u)}
	}
	v = math.Abs(v)
	if v == 0 {
		if u == Seconds {
			return all[len(all)-1]
		}
		return all[0]
	}
	if u == Bytes && v < 10_000 && v == math.Trunc(v) && math.Mod(v, 512) != 0 {
		return all[0] // 1400 B, and not 1.37 KiB
	}
	best := all[0]
	for _, s := range all[1:] {
		if v*1.0005 >= s.of {
			best = s
		}
	}
	return best
}

// digits prints v with three significant digits, two below 1, and all those before the
// point.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a == 0:
		return "0"
	case a >= 1e6 || a < 1e-4:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	after := 2 - int(math.Floor(math.Log10(a*1.0005)))
	if a < 0.9995 {
		after--
	}
	return strconv.FormatFloat(v, 'f', after, 64)
}

// digits prints v in that scale. Numbers, shares and bytes are often whole, or chosen by
// somebody: these have no zeros behind the point, and whole ones all their digits.
func (u Unit) digits(v float64, s scale) string {
	if u != Plain && u != Percent && u != Bytes {
		return digits(v / s.of)
	}
	if v /= s.of; v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if u == Percent && v > 99 && v < 100 { // 99.99 % is not all
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return round(digits(v))
}

// round leaves out zeros at the end that are behind the point.
func round(t string) string {
	if strings.Contains(t, ".") && !strings.Contains(t, "e") {
		t = strings.TrimRight(strings.TrimRight(t, "0"), ".")
	}
	return t
}

// Text prints a value with its unit, with three digits: 3.72 us, 8.09 Gbit/s, 1.5 KiB,
// 0.31 x. What is no number is "-".
func (u Unit) Text(v float64) string {
	s := u.scaleOf(v)
	t := u.digits(v, s)
	if t == "-" || s.name == "" {
		return t
	}
	return t + " " + s.name
}

// roundText prints a value that somebody has chosen: 5 ms, and not 5.00 ms.
func (u Unit) roundText(v float64) string {
	t, name, _ := strings.Cut(u.Text(v), " ")
	return strings.TrimSpace(round(t) + " " + name)
}

// spread prints a smallest and a largest value beside v, in the scale of v, without the
// unit: (3.61..4.10). It is empty where all are the same, and where none were kept.
func (u Unit) spread(v, low, high float64) string {
	if low == 0 && high == 0 || low == v && high == v || math.IsNaN(low) || math.IsNaN(high) {
		return ""
	}
	s := u.scaleOf(v)
	return "(" + u.digits(low, s) + ".." + u.digits(high, s) + ")"
}
