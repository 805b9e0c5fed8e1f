// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Proves: daemon.metrics
func TestText(t *testing.T) {
	var m Text
	m.Family("a_total", Counter, "One\\two\nthree.")
	m.Value(3)
	m.Family("b", Gauge, "B.")
	m.Value(0.25, "name", "a\"b\\c\nd\xff", "other", "")
	m.Value(math.Inf(1), "name", "x")
	m.Value(1<<53, "name", "y")
	want := `# HELP a_total One\\two\nthree.
# TYPE a_total counter
a_total 3
# HELP b B.
# TYPE b gauge
b{name="a\"b\\c\nd�",other=""} 0.25
b{name="x"} +Inf
b{name="y"} 9.007199254740992e+15
`
	if got := string(m.Bytes()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSeriesAreBounded(t *testing.T) {
	var m Text
	m.Family("many", Gauge, "Many.")
	for i := range MaxSeries + 5 {
		m.Value(1, "i", fmt.Sprint(i))
	}
	m.Family("few", Gauge, "Few.")
	m.Value(1)
	got := string(m.Bytes())
	if n := strings.Count(got, "\nmany{"); n != MaxSeries {
		t.Errorf("%d series", n)
	}
	if !strings.Contains(got, "\nfew 1\n") || !strings.HasSuffix(got, "\nutipc_metrics_left_out{family=\"many\"} 5\n") {
		t.Errorf("it ends with %q", got[len(got)-300:])
	}
}

// Whatever a label holds, its line stays one line, and the value stands behind it.
func FuzzLabel(f *testing.F) {
	f.Add("x\"} 1\ny 2")
	f.Add("\\")
	f.Fuzz(func(t *testing.T, s string) {
		var m Text
		m.family = "f"
		m.Value(7, "l", s)
		line := string(m.Bytes())
		if strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, `f{l="`) || !strings.HasSuffix(line, "\"} 7\n") {
			t.Fatalf("%q", line)
		}
		for in, i := line[len(`f{l="`):len(line)-len("\"} 7\n")], 0; i < len(in); i++ {
			switch in[i] {
			case '\\':
				i++
			case '"':
				t.Fatalf("%q ends within", line)
			}
		}
	})
}
