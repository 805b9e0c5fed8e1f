// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"math"
	"testing"
)

// Proves: bench.report
func TestText(t *testing.T) {
	for _, x := range []struct {
		v    float64
		unit Unit
		want string
	}{
		{3.72e-6, Seconds, "3.72 us"},
		{15.35e-6, Seconds, "15.4 us"},
		{497.25e-6, Seconds, "497 us"},
		{999.96e-6, Seconds, "1.00 ms"},
		{1.5, Seconds, "1.50 s"},
		{120e-9, Seconds, "120 ns"},
		{0, Seconds, "0 s"},
		{0.4e-9, Seconds, "0.40 ns"},
		{4.06e6, PerSecond, "4.06 M/s"},
		{294e3, PerSecond, "294 k/s"},
		{12, PerSecond, "12.0 /s"},
		{8.09e9, BitsPerSecond, "8.09 Gbit/s"},
		{39.94e9, BitsPerSecond, "39.9 Gbit/s"},
		{27.5e6, BytesPerSecond, "27.5 MB/s"},
		{1, Bytes, "1 B"},
		{1024, Bytes, "1 KiB"},
		{1536, Bytes, "1.5 KiB"},
		{1400, Bytes, "1400 B"},
		{8900, Bytes, "8900 B"},
		{64000, Bytes, "62.5 KiB"},
		{256 << 10, Bytes, "256 KiB"},
		{24e9, Bytes, "22.4 GiB"},
		{630.5, Bytes, "630 B"},
		{0.31, Ratio, "0.31 x"},
		{12.73, Ratio, "12.7 x"},
		{1, Ratio, "1.00 x"},
		{99.97, Ratio, "100 x"},
		{0.9997, Ratio, "1.00 x"},
		{0.031, Ratio, "0.031 x"},
		{99.9, Percent, "99.9 %"},
		{99.99, Percent, "99.99 %"},
		{0.5, Percent, "0.5 %"},
		{10, Percent, "10 %"},
		{0.0021, Plain, "0.0021"},
		{0, Plain, "0"},
		{8191, Plain, "8191"},
		{-1.5e-3, Seconds, "-1.50 ms"},
		{3, "wibble", "3.00 wibble"},
		{2e7, Plain, "2e+07"},
		{2.5e-7, Plain, "2.5e-07"},
		{math.NaN(), Seconds, "-"},
		{math.Inf(1), BitsPerSecond, "-"},
		{math.Inf(-1), Plain, "-"},
	} {
		if got := x.unit.Text(x.v); got != x.want {
			t.Errorf("%v of %q: got %q, want %q", x.v, x.unit, got, x.want)
		}
	}
}

// Proves: bench.report
func TestSpread(t *testing.T) {
	for _, x := range []struct {
		v, low, high float64
		want         string
	}{
		{3.72e-6, 3.61e-6, 14.1e-6, "(3.61..14.1)"},
		{3.72e-6, 0.9e-6, 1.2e-3, "(0.90..1200)"},
		{3.72e-6, 0, 0, ""},
		{3.72e-6, 3.72e-6, 3.72e-6, ""},
		{1, math.NaN(), 2, ""},
	} {
		if got := Seconds.spread(x.v, x.low, x.high); got != x.want {
			t.Errorf("%v, %v, %v: got %q, want %q", x.v, x.low, x.high, got, x.want)
		}
	}
}

// Proves: bench.report
func TestRoundText(t *testing.T) {
	for v, want := range map[float64]string{5e-3: "5 ms", 2.5e-6: "2.5 us", 100: "100 s", 0: "0 s"} {
		if got := Seconds.roundText(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

// Proves: bench.report
func TestOfRounds(t *testing.T) {
	p := PointOf(64, []float64{5, 1, 3})
	if p.X != 64 || p.Y != 3 || p.Low != 1 || p.High != 5 || len(p.Raw) != 3 || p.Raw[0] != 5 {
		t.Errorf("got %+v", p)
	}
	if c := CellOf(Seconds, []float64{4, 2}); c.Value != 3 || c.Low != 2 || c.High != 4 || c.Unit != Seconds {
		t.Errorf("got %+v", c)
	}
	if c := CellOf(Seconds, nil); c.Word != "-" {
		t.Errorf("of no round: got %+v", c)
	}
}
