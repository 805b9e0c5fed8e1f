// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"math"
	"slices"
	"strconv"
)

// A ruler lays the values of an axis on a length of a picture.
type ruler struct {
	unit     Unit
	log      bool
	from, to float64 // the values at its ends
	a, b     float64 // where its ends are in the picture
}

// newRuler covers the values. A linear one of values that are not negative begins at 0,
// unless they are far from it and zero is false.
func newRuler(axis Axis, values []float64, zero bool, a, b float64) ruler {
	r := ruler{unit: axis.Unit, log: axis.Log, a: a, b: b}
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !r.fits(v) })
	if len(values) == 0 {
		values = []float64{1}
	}
	r.from, r.to = slices.Min(values), slices.Max(values)
	if r.log {
		if r.from == r.to {
			r.from, r.to = r.from/2, r.to*2
		}
		edge := math.Pow(r.to/r.from, 0.04)
		r.from, r.to = r.from/edge, r.to*edge
		return r
	}
	if r.from >= 0 && (zero || r.from < r.to/4) {
		r.from = 0
	}
	if r.from == r.to { // 0 alone, or one value far from it
		r.to += max(1, math.Abs(r.to))
	}
	if zero { // to a whole step beyond the largest
		step := r.step(6)
		r.to = math.Ceil(r.to/step-1e-9) * step
		r.from = math.Floor(r.from/step+1e-9) * step
	}
	return r
}

// huge is beyond what anybody measures; less than it leaves room to calculate in.
const huge = 1e100

// fits reports whether a value has a place on a ruler of this kind.
func (r ruler) fits(v float64) bool { return math.Abs(v) < huge && (!r.log || v > 1/huge) }

// at is where a value is in the picture; what is beyond an end is at that end.
func (r ruler) at(v float64) float64 {
	from, to := r.from, r.to
	switch {
	case !r.fits(v) || v <= from:
		return r.a
	case v >= to:
		return r.b
	case r.log:
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	return r.a + (v-from)/(to-from)*(r.b-r.a)
}

// A tick is a line across the picture; one without a label is thinner.
type tick struct {
	at    float64 // value
	label string
}

// ticks are about as many labelled ones.
func (r ruler) ticks(most int) []tick {
	if !r.log {
		return r.linear(most)
	}
	t, labels := r.powers(most)
	if labels < 2 {
		return r.linear(most)
	}
	return t
}

// step is the distance of a linear ruler's ticks: 1, 2 or 5 times a power of ten, and of
// bytes a power of two.
func (r ruler) step(most int) float64 {
	least := (r.to - r.from) / float64(most)
	if r.unit == Bytes {
		return math.Pow(2, math.Ceil(math.Log2(least)))
	}
	ten := math.Pow(10, math.Floor(math.Log10(least)))
	for _, k := range []float64{1, 2, 5} {
		if k*ten >= least*(1-1e-9) {
			return k * ten
		}
	}
	return 10 * ten
}

// scale is that of all labels of a linear ruler: the unit stands with the axis.
func (r ruler) scale() scale { return r.unit.scaleOf(max(math.Abs(r.from), math.Abs(r.to))) }

func (r ruler) linear(most int) (t []tick) {
	step, scale := r.step(most), r.scale()
	if r.log {
		scale = r.unit.scaleOf(r.from)
	}
	after := max(0, -int(math.Floor(math.Log10(step/scale.of)+1e-9)))
	if r.unit == Bytes {
		after = -1 // as many as it takes
	}
	for k := math.Ceil(r.from/step - 1e-9); k*step <= r.to*(1+1e-9); k++ {
		v := k*step + 0 // and never -0
		label := strconv.FormatFloat(v/scale.of, 'f', after, 64)
		if r.log {
			label += " " + scale.name
		}
		t = append(t, tick{v, label})
	}
	return t
}

// powers are the ticks of a logarithmic ruler: powers of two of bytes, else of ten, with
// what is between them. labels is how many of them have one.
func (r ruler) powers(most int) (t []tick, labels int) {
	base := 10.0
	if r.unit == Bytes {
		base = 2
	}
	first := int(math.Ceil(math.Log(r.from)/math.Log(base) - 1e-9))
	last := int(math.Floor(math.Log(r.to)/math.Log(base) + 1e-9))
	every := 1
	for (last-first)/every+1 > most {
		every++
	}
	for k := first - 1; k <= last; k++ {
		v := math.Pow(base, float64(k))
		if k >= first {
			label := ""
			if k%every == 0 {
				label = r.label(v)
				labels++
			}
			t = append(t, tick{v, label})
		}
		if base == 2 || every > 1 {
			continue
		}
		for i := 2.0; i < 10; i++ {
			if v*i < r.from || v*i > r.to {
				continue
			}
			label := ""
			if last-first < 2 && (i == 2 || i == 5) {
				label = r.label(v * i)
				labels++
			}
			t = append(t, tick{v * i, label})
		}
	}
	return t, labels
}

// label prints a round value without digits that say nothing.
func (r ruler) label(v float64) string {
	s := r.unit.scaleOf(v)
	label := strconv.FormatFloat(v/s.of, 'g', 6, 64)
	if s.name != "" {
		label += " " + s.name
	}
	return label
}

// title is what stands at the axis: with its unit, where the labels are without.
func (r ruler) title(axis Axis) string {
	if name := r.scale().name; !r.log && name != "" {
		return axis.Label + " (" + name + ")"
	}
	return axis.Label
}
