// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// An element of a picture, with what is in it.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	In      []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all yields the elements of that name.
func (e *element) all(name string) (found []*element) {
	if e.XMLName.Local == name {
		found = append(found, e)
	}
	for i := range e.In {
		found = append(found, e.In[i].all(name)...)
	}
	return found
}

func parse(t *testing.T, svg string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimSpace(svg)))
	var e element
	if err := d.Decode(&e); err != nil {
		t.Fatalf("%v in\n%s", err, svg)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("something is behind the picture: %v", err)
	}
	if e.XMLName.Local != "svg" || e.XMLName.Space != "http://www.w3.org/2000/svg" {
		t.Fatalf("got %v, want a picture", e.XMLName)
	}
	return &e
}

// Every picture can be read, has no number that is none, and says what its figure is called.
//
// Proves: bench.report
func TestSVGIsXML(t *testing.T) {
	for _, r := range []*Report{sample(), hostile()} {
		for _, s := range r.Sections {
			for _, f := range s.Figures {
				svg := f.SVG()
				e := parse(t, svg)
				if n := len(e.all("script")); n > 0 {
					t.Errorf("%s: %d scripts", f.ID, n)
				}
				for _, name := range []string{"path", "line", "rect", "text"} {
					for _, x := range e.all(name) {
						for _, a := range x.Attrs {
							if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
								t.Errorf("%s: %s=%q", f.ID, a.Name.Local, a.Value)
							}
						}
					}
				}
				if got := e.all("title")[0].Text; got == "" && f.Title != "" {
					t.Errorf("%s: no title", f.ID)
				}
			}
		}
	}
}

// marksOf reads where the first curve of ours has its marks: circles.
func marksOf(t *testing.T, f *Figure) (at [][2]float64) {
	t.Helper()
	for _, p := range parse(t, f.SVG()).all("path") {
		if len(p.all("title")) == 0 {
			continue
		}
		var x, y float64
		if _, err := fmt.Sscanf(p.attr("d"), "M%f %fa", &x, &y); err != nil {
			t.Fatalf("%v in %q", err, p.attr("d"))
		}
		at = append(at, [2]float64{x + 4, y})
	}
	return at
}

// Points are where the axes say: equal steps on a linear one, equal factors on the other.
//
// Proves: bench.report
func TestPointsAreInTheirPlace(t *testing.T) {
	s := []Series{{Name: "ours", Ours: true, Points: []Point{{X: 1, Y: 0.001}, {X: 10, Y: 0.1}, {X: 100, Y: 10}}}}
	linear := []Series{{Name: "ours", Ours: true, Points: []Point{{X: 0, Y: 0}, {X: 5, Y: 50}, {X: 10, Y: 100}}}}
	for name, f := range map[string]Figure{
		"log":    {X: Axis{Log: true}, Y: Axis{Log: true}, Series: s},
		"linear": {Series: linear},
	} {
		at := marksOf(t, &f)
		if len(at) != 3 {
			t.Fatalf("%s: got %v, want three marks", name, at)
		}
		for d, by := range []string{"x", "y"} {
			if mid := (at[0][d] + at[2][d]) / 2; math.Abs(at[1][d]-mid) > 0.2 {
				t.Errorf("%s: %s of the second point is %v, want the middle of %v and %v", name, by, at[1][d], at[0][d], at[2][d])
			}
		}
		if at[0][0] >= at[2][0] || at[0][1] <= at[2][1] {
			t.Errorf("%s: got %v, want to the right and up", name, at)
		}
	}
	f := Figure{Series: linear}
	if at := marksOf(t, &f); at[0][1] != plotTop+plotHeight || at[2][1] != plotTop {
		t.Errorf("0 and the largest are at %v and %v, want the ends of the axis", at[0][1], at[2][1])
	}
	f = Figure{Y: Axis{Log: true}, Series: linear}
	if at := marksOf(t, &f); len(at) != 2 {
		t.Errorf("0 on a logarithmic axis: got %v, want it left out", at)
	}
}

// Bars are as long as their values, and each has its value beside it.
//
// Proves: bench.report
func TestBarsAreAsLongAsValues(t *testing.T) {
	f := Figure{Ticks: []string{"one", "three"}, Y: Axis{Unit: PerSecond}, Series: []Series{{Name: "ours", Ours: true, Points: []Point{{X: 0, Y: 1e6}, {X: 1, Y: 3e6}, {X: 2, Y: 5}}}}}
	e := parse(t, f.SVG())
	var length []float64
	for _, r := range e.all("rect") {
		if len(r.all("title")) > 0 {
			w, err := strconv.ParseFloat(r.attr("width"), 64)
			if err != nil {
				t.Fatal(err)
			}
			length = append(length, w)
		}
	}
	if len(length) != 2 || math.Abs(length[1]-3*length[0]) > 0.3 {
		t.Errorf("got %v, want two, and the second three times the first", length)
	}
	var words []string
	for _, x := range e.all("text") {
		words = append(words, x.Text)
	}
	if got := strings.Join(words, "|"); !strings.Contains(got, "one|three|1.00 M/s|3.00 M/s") {
		t.Errorf("got %q, want the names and the values", got)
	}
}

// Names of curves stand to the right of all that is drawn, and within the picture.
//
// Proves: bench.report
func TestLegendCoversNothing(t *testing.T) {
	for _, f := range sample().Sections[0].Figures {
		e := parse(t, f.SVG())
		right := 0.0
		for _, p := range e.all("path") {
			if len(p.all("title")) > 0 {
				var x float64
				fmt.Sscanf(p.attr("d"), "M%f", &x)
				right = max(right, x)
			}
		}
		width, _ := strconv.ParseFloat(e.attr("width"), 64)
		for _, x := range e.all("text") {
			for i := range f.Series {
				if at, _ := strconv.ParseFloat(x.attr("x"), 64); strings.HasPrefix(f.Series[i].Name, x.Text) && (at <= right+8 || at+textWidth(x.Text, legendText) > width) {
					t.Errorf("%s: %q is at %v, curves go to %v, the picture to %v", f.ID, x.Text, at, right, width)
				}
			}
		}
	}
}

// Twenty curves differ, by colour, mark or dash; the same name has the same ink in all
// figures of a section, whatever their order.
//
// Proves: bench.report
func TestInk(t *testing.T) {
	for _, ours := range []bool{false, true} {
		var f Figure
		for i := range 20 {
			f.Series = append(f.Series, Series{Name: fmt.Sprint(i), Ours: ours})
		}
		w := newInkwell(f)
		seen := map[ink]string{}
		for i := range f.Series {
			k := w.ink(&f.Series[i])
			if other := seen[k]; other != "" {
				t.Errorf("%s and %s are drawn alike: %+v", other, f.Series[i].Name, k)
			}
			seen[k] = f.Series[i].Name
		}
	}
	a, b := Series{Name: "a"}, Series{Name: "b"}
	w := newInkwell(Figure{Series: []Series{a, b}}, Figure{Series: []Series{b, a}})
	if w.ink(&a) == w.ink(&b) || w.ink(&a) != newInkwell(Figure{Series: []Series{a}}).ink(&a) {
		t.Errorf("got %+v and %+v", w.ink(&a), w.ink(&b))
	}
	if w.ink(&Series{Name: "a", Ours: true}).width <= w.ink(&a).width {
		t.Error("ours is not thicker")
	}
}

// Ticks are within the axis, in order, some with labels but not too many, and none twice.
//
// Proves: bench.report
func TestTicks(t *testing.T) {
	for _, x := range []struct {
		axis     Axis
		most     int
		from, to float64
		want     string // the labels
	}{
		{Axis{Unit: Bytes, Log: true}, 10, 1, 256 << 10, "1 B, 4 B, 16 B, 64 B, 256 B, 1 KiB, 4 KiB, 16 KiB, 64 KiB, 256 KiB"},
		{Axis{Unit: Seconds, Log: true}, 7, 3.7e-6, 90e-6, "5 us, 10 us, 20 us, 50 us, 100 us"},
		{Axis{Unit: Seconds, Log: true}, 4, 3e-6, 4.4e-6, "3.0 us, 3.5 us, 4.0 us"},
		{Axis{Unit: PerSecond, Log: true}, 7, 1e3, 1e7, "1 k/s, 10 k/s, 100 k/s, 1 M/s, 10 M/s"},
		{Axis{Unit: BitsPerSecond}, 7, 0, 8.4e9, "0, 2, 4, 6, 8, 10"},
		{Axis{Unit: Bytes}, 5, 0, 1 << 20, "0, 0.25, 0.5, 0.75, 1"},
		{Axis{Unit: Ratio}, 7, 0.2, 2.1, "0.0, 0.5, 1.0, 1.5, 2.0, 2.5"},
	} {
		r := newRuler(x.axis, []float64{x.from, x.to}, true, 0, 100)
		var labels []string
		last := math.Inf(-1)
		for _, k := range r.ticks(x.most) {
			if k.at <= last || k.at > r.to*1.000001 || k.label != "" && k.at < r.from*0.999999 {
				t.Errorf("%+v: a tick at %v after %v, of %v to %v", x, k.at, last, r.from, r.to)
			}
			last = k.at
			if k.label != "" {
				labels = append(labels, k.label)
			}
		}
		if got := strings.Join(labels, ", "); got != x.want {
			t.Errorf("%+v: got %s, want %s", x.axis, got, x.want)
		}
	}
}
