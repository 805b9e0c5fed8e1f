// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"math"
	"time"
)

// around are rounds that spread about y.
func around(y float64) []float64 { return []float64{0.96 * y, y, 1.02 * y, 1.15 * y, 0.99 * y} }

// curve is a series of so many points whose x doubles.
func curve(name string, ours bool, from float64, n int, y func(x float64) float64) Series {
	s := Series{Name: name, Ours: ours}
	for i := range n {
		x := from * math.Pow(2, float64(i))
		s.Points = append(s.Points, PointOf(x, around(y(x))))
	}
	return s
}

// sample is a report with each kind of thing in it.
func sample() *Report {
	size := Axis{Label: "message size", Unit: Bytes, Log: true}
	line := func(base, perByte float64) func(float64) float64 {
		return func(x float64) float64 { return base + perByte*x }
	}
	latency := Figure{
		ID: "latency-size", Title: "Round trip by message size, both ends spinning", X: size, Y: Axis{Label: "round trip", Unit: Seconds, Log: true},
		Series: []Series{
			curve("utipc, spinning", true, 1, 19, line(3.7e-6, 0.25e-9)),
			curve("utipc, sleeping", true, 1, 19, line(8.7e-6, 0.3e-9)),
			curve("TCP NODELAY, spinning", false, 1, 19, line(7.9e-6, 0.12e-9)),
			curve("TCP NODELAY, blocking, without offloads", false, 1, 19, line(16.4e-6, 0.3e-9)),
			curve("UDP", false, 1, 16, line(15e-6, 0.2e-9)),
			curve("UNIX socket", false, 1, 19, line(6e-6, 0.1e-9)),
		},
	}
	ratio := Figure{
		ID: "latency-ratio", Title: "How many times as long others take", X: size, Y: Axis{Label: "other / ours", Unit: Ratio},
		Series: []Series{
			curve("TCP NODELAY, spinning", false, 1, 19, func(x float64) float64 { return line(7.9e-6, 0.12e-9)(x) / line(3.7e-6, 0.25e-9)(x) }),
			curve("UNIX socket", false, 1, 19, func(x float64) float64 { return line(6e-6, 0.1e-9)(x) / line(3.7e-6, 0.25e-9)(x) }),
		},
	}
	cut := Figure{ID: "failover", Title: "Goodput while a bearer is cut and comes back", X: Axis{Label: "time", Unit: Seconds}, Y: Axis{Label: "goodput", Unit: BitsPerSecond}}
	for _, name := range []string{"carrier lost", "frames vanish"} {
		s := Series{Name: name, Ours: true}
		for i := range 200 {
			y := 8e9 + 4e8*math.Sin(float64(i)/3)
			if i > 60 && (i < 65 || name[0] == 'f' && i < 130) {
				y = 0
			}
			s.Points = append(s.Points, Point{X: float64(i) * 0.01, Y: y})
		}
		cut.Series = append(cut.Series, s)
	}
	bypass := Figure{
		ID: "bypass", Title: "One engine over each device: CPU time of a 64-byte message", Y: Axis{Label: "CPU time of a message", Unit: Seconds},
		Ticks:  []string{"memory", "AF_XDP native", "AF_XDP generic", "AF_PACKET", "UDP with GSO", "UDP without GSO, a system call for each datagram"},
		Series: []Series{{Name: "sender", Ours: true}, {Name: "receiver", Ours: true}, {Name: "TCP, both ends"}},
	}
	for i := range bypass.Ticks {
		y := 120e-9 * math.Pow(1.7, float64(i))
		bypass.Series[0].Points = append(bypass.Series[0].Points, PointOf(float64(i), around(y)))
		bypass.Series[1].Points = append(bypass.Series[1].Points, PointOf(float64(i), around(1.3*y)))
		bypass.Series[2].Points = append(bypass.Series[2].Points, PointOf(float64(i), around(2.1e-6)))
	}
	table := Table{ID: "overload", Title: "Offered and delivered", Heads: []string{"system", "offered", "delivered", "p99"}, Rows: []Row{
		{Name: "utipc", Ours: true, Cells: []Cell{CellOf(PerSecond, around(8e6)), CellOf(PerSecond, around(3.7e6)), {Value: 6.5e-6, Unit: Seconds}}},
		{Name: "TCP", Cells: []Cell{CellOf(PerSecond, around(8e6)), CellOf(PerSecond, around(0.3e6)), {Word: "-"}}, Note: "it cannot be offered more than it takes: the write blocks"},
	}}
	return &Report{
		Title: "utipc beside other systems", Command: "utipc-lab bench report --short", Commit: "c6c0349", Place: "two network namespaces, a veth cable between them",
		Machine: Machine{CPU: "A Processor", Cores: 2, Memory: 24 << 30, Kernel: "Linux 6.18", Go: "go1.26 amd64"},
		Plan:    "5 rounds of 200ms, interleaved", Began: time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC), Took: 9*time.Minute + 7*time.Second, Others: 0.031,
		Warnings: []string{"the machine was not quiet: 3 measurements were repeated"},
		Sections: []Section{
			{
				ID: "latency", Title: "Latency against size", How: "One message is sent and answered.\n\nIn every round all systems have their turn.",
				Says: []string{"At 64 B a round trip takes 3.72 us, TCP's 7.91 us."}, Figures: []Figure{latency, ratio}, Errors: []string{"UDP: 128 KiB: message too long"},
			},
			{ID: "failover", Title: "Failover", How: "A cable is cut.", Figures: []Figure{cut}},
			{ID: "bypass", Title: "Bypass or not", How: "One engine.", Figures: []Figure{bypass}, Tables: []Table{table}},
		},
		Losses: []Loss{{Section: "latency", Where: "256 KiB, spinning", Ours: "utipc 69.2 us", Theirs: "TCP NODELAY 39.3 us", Times: 1.76, Reason: "the kernel cuts after the device, once for 64 KiB; with a larger MTU it would not matter"}},
	}
}

// hostile is a report of things that nobody should have put there.
func hostile() *Report {
	nan, inf := math.NaN(), math.Inf(1)
	bad := "</svg><script>alert(1)</script>&\"'|`\x00\x1b[31m\xff\n\n# no"
	points := []Point{{X: 1, Y: nan}, {X: nan, Y: 1}, {X: 2, Y: inf}, {X: 0, Y: 3, Low: nan, High: 4}, {X: 4, Y: -1, Low: -2, High: inf}, {X: 8, Y: 0, Raw: []float64{1, nan}}, {X: 16, Y: 7, Low: 0, High: 9}}
	var figures []Figure
	for _, f := range []Figure{
		{Series: []Series{{Name: bad, Points: points}}},
		{},
		{Ticks: []string{}},
		{Ticks: []string{bad, ""}, Series: []Series{{Name: bad, Points: points}, {Ours: true}}},
		{Series: []Series{{Name: "one", Points: []Point{{X: 5, Y: 5}}}}},
		{Series: []Series{{Name: "zero", Points: []Point{{}}}}},
		{Series: []Series{{Name: "tiny and large", Points: []Point{{X: 1e-300, Y: 1e-300}, {X: 1e300, Y: 1e300}}}}},
	} {
		for k := range 4 {
			f.ID, f.Title = "../../etc/passwd", bad
			f.X = Axis{Label: bad, Unit: []Unit{Bytes, Seconds, Ratio, "wibble"}[k], Log: k%2 == 0}
			f.Y = Axis{Label: bad, Unit: []Unit{Ratio, Bytes, Seconds, Plain}[k], Log: k/2 == 0}
			figures = append(figures, f)
		}
	}
	many := Figure{ID: "Crowd", Title: "twenty", X: Axis{Label: "x", Unit: Bytes, Log: true}, Y: Axis{Label: "y", Unit: Seconds, Log: true}}
	for i := range 20 {
		many.Series = append(many.Series, curve(fmt.Sprintf("system number %d with a name that is rather long", i), i%4 == 0, 1, 12, func(x float64) float64 { return float64(i+1) * x * 1e-9 }))
	}
	return &Report{
		Title: bad, Command: bad, Commit: bad, Place: bad, Plan: bad, Began: time.Unix(1, 0).UTC(), Others: nan, Warnings: []string{bad},
		Sections: []Section{
			{
				ID: bad, Title: bad, How: bad, Says: []string{bad}, Errors: []string{bad}, Figures: append(figures, many),
				Tables: []Table{{ID: "losses", Title: bad, Heads: []string{bad}, Rows: []Row{{Name: bad, Note: bad, Cells: []Cell{{Value: nan}, {Value: 1, Low: inf}, {Word: bad}}}, {}}}, {}},
			},
			{},
			{ID: "losses"},
		},
		Losses: []Loss{{Section: bad, Where: bad, Ours: bad, Theirs: bad, Reason: bad, Times: inf}},
	}
}
