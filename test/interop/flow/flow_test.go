// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"testing"

	"github.com/utipc/utipc/test/interop/pattern"
)

// stream makes the first messages of a plan.
func stream(p Plan, n int) (all [][]byte) {
	for i := range n {
		b := make([]byte, p.Size(uint32(i)))
		pattern.Fill(b, uint32(i))
		all = append(all, b)
	}
	return all
}

// The judge sees each thing that can go wrong with a stream, once.
func TestJudgeSees(t *testing.T) {
	p := Plan{Seed: 3, Longest: 66000}
	const n = 400
	tiny, long := -1, -1 // a message without and one with a header
	for i := 10; i < n; i++ {
		switch size := p.Size(uint32(i)); {
		case tiny < 0 && size > 8 && size < pattern.HeaderLen:
			tiny = i
		case long < 0 && size > 2000:
			long = i
		}
	}
	for name, at := range map[string]int{"without a header": tiny, "with one": long} {
		for what, tt := range map[string]struct {
			change func(all [][]byte) [][]byte
			want   Verdict
		}{
			"nothing": {func(all [][]byte) [][]byte { return all }, Verdict{Messages: n}},
			"lost": {
				func(all [][]byte) [][]byte { return append(all[:at:at], all[at+1:]...) },
				Verdict{Messages: n - 1, Lost: 1},
			},
			"doubled": {
				func(all [][]byte) [][]byte { return append(all[:at+1:at+1], all[at:]...) },
				Verdict{Messages: n, Doubled: 1},
			},
			"late": {func(all [][]byte) [][]byte {
				all[at], all[at+1] = all[at+1], all[at]
				return all
			}, Verdict{Messages: n, Reordered: 1}},
			"changed": {func(all [][]byte) [][]byte {
				all[at][len(all[at])-1] ^= 1
				return all
			}, Verdict{Messages: n - 1, Lost: 1, Corrupt: 1}},
			"cut": {func(all [][]byte) [][]byte { return all[:at] }, Verdict{Messages: at, Lost: n - at}},
		} {
			j := newJudge(p)
			for _, b := range tt.change(stream(p, n)) {
				j.take(b)
			}
			got := j.finish(n)
			got.Bytes = 0
			if got != tt.want {
				t.Errorf("message %s, %s: got %+v, want %+v", name, what, got, tt.want)
			}
			if got.Whole() != (what == "nothing") {
				t.Errorf("message %s, %s: Whole() is %v", name, what, got.Whole())
			}
		}
	}
}

// The sizes of a plan reach from 1 byte to the longest.
func TestPlanSizes(t *testing.T) {
	for _, longest := range []int{1, 1400, 66000} {
		shortest, most := longest, 0
		p := Plan{Seed: 1, Longest: longest}
		for i := range uint32(20000) {
			n := p.Size(i)
			shortest, most = min(shortest, n), max(most, n)
		}
		if shortest != 1 || most > longest || most < longest*99/100 {
			t.Errorf("longest %d: got %d to %d", longest, shortest, most)
		}
	}
}
