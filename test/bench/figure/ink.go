// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"strings"
)

// An ink is what a curve is drawn with. Curves of this stack are thick and blue, those of
// others thinner and anything else; nobody has to tell them apart by colour alone, since
// marks differ, or dashes where there are no marks.
type ink struct {
	colour string
	width  float64
	mark   int // of marks
	dash   string
	ours   bool
}

// The palettes; the others' is that of Okabe and Ito, which the colour-blind can read,
// without its blues.
var (
	blues  = []string{"#0b4f9e", "#2f8fe0", "#5b5bd6", "#12a5b8", "#84b6ee", "#17375e"}
	others = []string{"#d55e00", "#009e73", "#cc79a7", "#e69f00", "#6e6e6e", "#8c564b", "#222222"}
	dashes = []string{"", "7 3", "2 3", "9 3 2 3"}
)

// An inkwell gives curves of the same name the same ink, in all figures of a section.
type inkwell struct {
	number map[string]int // by name, of ours and of others apart
	used   [2]int
}

// newInkwell fills it for all figures that are to agree.
func newInkwell(figures ...Figure) *inkwell {
	w := &inkwell{number: map[string]int{}}
	for _, f := range figures {
		for i := range f.Series {
			w.ink(&f.Series[i])
		}
	}
	return w
}

// ink is the ink of a curve.
func (w *inkwell) ink(s *Series) ink {
	kind, colours, width := 1, others, 1.6
	if s.Ours {
		kind, colours, width = 0, blues, 3
	}
	key := fmt.Sprint(kind, s.Name)
	k, known := w.number[key]
	if !known {
		k = w.used[kind]
		w.used[kind]++
		w.number[key] = k
	}
	return ink{
		colour: colours[k%len(colours)], width: width, ours: s.Ours,
		mark: (3*kind + k) % len(marks), dash: dashes[k/len(colours)%len(dashes)],
	}
}

// faint is an ink for curves without marks: dashes tell them apart.
func (k ink) faint() ink {
	if k.dash == "" {
		k.dash = dashes[k.mark%len(dashes)]
	}
	k.mark = -1
	k.width = min(k.width, 2)
	return k
}

// marks are shapes of about the same size around a place.
var marks = []func(x, y float64) string{
	func(x, y float64) string { return fmt.Sprintf("M%.1f %.1fa4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x-4, y) },
	func(x, y float64) string { return fmt.Sprintf("M%.1f %.1fh7v7h-7z", x-3.5, y-3.5) },
	func(x, y float64) string { return fmt.Sprintf("M%.1f %.1fl5 5l-5 5l-5 -5z", x, y-5) },
	func(x, y float64) string { return fmt.Sprintf("M%.1f %.1fl4.8 8.4h-9.6z", x, y-5.2) },
	func(x, y float64) string { return fmt.Sprintf("M%.1f %.1fl4.8 -8.4h-9.6z", x, y+5.2) },
	func(x, y float64) string {
		return fmt.Sprintf("M%.1f %.1fl2.6 2.6l2.6 -2.6l2 2l-2.6 2.6l2.6 2.6l-2 2l-2.6 -2.6l-2.6 2.6l-2 -2l2.6 -2.6l-2.6 -2.6z", x-2.6, y-4.6)
	},
}

// textWidth is about how wide a text is, in a sans-serif font of that size.
func textWidth(s string, size float64) float64 {
	n := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfrI.,:;'|()[] ", r):
			n += 0.34
		case strings.ContainsRune("mwMW%@", r):
			n += 0.88
		case r >= 'A' && r <= 'Z':
			n += 0.68
		default:
			n += 0.57
		}
	}
	return n * size
}
