// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"math/bits"
	"slices"
)

// A rangeSet is ranges of one type in the order in which lookups try them: by lower
// bound, of equal ones the newest first. It is cut into blocks, so that one more
// range moves a block's pointers and not all of them.
//
//	ranges   1-4  2-9  3-5  │  5-7  8-20  10-12  │  15-16  30-31
//	reach     4    9    9   │   7    20     20   │    16     31     of the block so far
//	reach               9   │               20   │           31     of all blocks so far
//
// reach is the largest upper bound so far. It never falls, so the first range with
// upper >= x is where reach comes to x: a binary search over the blocks, another in
// the block. No earlier range has x in it, so this one is the first candidate for x,
// or, if its lower bound is above x, there is none: 6 leads to 2-9, 14 to 8-20, and
// 25 to 30-31, so nobody is bound to 25.
//
// An update costs the block's length, and one step for each block whose reach changes.
type rangeSet struct {
	ends   []span // lower is that of the block's last range
	blocks []*block
}

// A block is a run of ranges; it has at least one.
type block struct {
	spans  []span
	bounds []*bound
}

// A span is what searches need to know of a range or block. They stand side by side,
// apart from what they tell of, because a search costs what it fetches from memory.
type span struct{ lower, reach uint32 }

// blockLen is the most ranges in a block.
const blockLen = 256

// reaching returns the first place in a that reaches x, else len(a). It takes no branch
// that the processor would have to guess.
func reaching(a []span, x uint32) int {
	lo := 0
	for n := uint(len(a)); n > 0; {
		half := (n + 1) / 2
		_, less := bits.Sub64(uint64(a[lo+int(half)-1].reach), uint64(x), 0)
		lo += int(half & -uint(less))
		n -= half
	}
	return lo
}

// from returns the first place in a with at least this lower bound, else len(a).
func from(a []span, lower uint32) int {
	i, _ := slices.BinarySearchFunc(a, lower, func(s span, lower uint32) int { return cmp.Compare(s.lower, lower) })
	return i
}

// first returns the first range with an upper bound of at least x, or nil.
func (s *rangeSet) first(x uint32) *bound {
	k := reaching(s.ends, x)
	if k == len(s.ends) {
		return nil
	}
	bl := s.blocks[k]
	return bl.bounds[reaching(bl.spans, x)]
}

// visit calls f for every range that overlaps lower to upper, in order, until f reports false. It
// passes over blocks without any; in a block that has one it may look at all.
func (s *rangeSet) visit(lower, upper uint32, f func(*bound) (more bool)) {
	for _, bl := range s.blocks[reaching(s.ends, lower):] {
		if bl.spans[0].lower > upper {
			return
		}
		for i := reaching(bl.spans, lower); i < len(bl.spans); i++ {
			if bl.spans[i].lower > upper {
				return
			}
			if b := bl.bounds[i]; b.r.Upper >= lower && !f(b) {
				return
			}
		}
	}
}

// place returns the block and the place in it of b, or where it belongs. The block
// is the last if b belongs behind all.
func (s *rangeSet) place(b *bound) (k, i int) {
	k = among(s.ends, b, func(k int) *bound { l := s.blocks[k].bounds; return l[len(l)-1] })
	k = min(k, len(s.blocks)-1)
	bl := s.blocks[k]
	return k, among(bl.spans, b, func(i int) *bound { return bl.bounds[i] })
}

// among returns the first place in a that b does not stand behind; at tells the range
// there. Only among equal lower bounds their age is asked for.
func among(a []span, b *bound, at func(int) *bound) int {
	lo := from(a, b.r.Lower)
	hi := lo
	for hi = lo; hi < len(a) && a[hi].lower == b.r.Lower; {
		hi = lo + 2*(hi-lo) + 1 // more and more at a time
	}
	for hi = min(hi, len(a)); lo < hi; {
		mid := (lo + hi) / 2
		if x := at(mid); x.r.Lower == b.r.Lower && x.created > b.created {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// insert adds a range that is not there.
func (s *rangeSet) insert(b *bound) {
	sp := span{b.r.Lower, b.r.Upper}
	if len(s.blocks) == 0 {
		s.ends, s.blocks = []span{sp}, []*block{{[]span{sp}, []*bound{b}}}
		return
	}
	k, i := s.place(b)
	if len(s.blocks[k].bounds) == blockLen {
		s.split(k, i)
		k, i = s.place(b)
	}
	bl := s.blocks[k]
	if i > 0 {
		sp.reach = max(sp.reach, bl.spans[i-1].reach)
	}
	bl.spans, bl.bounds = slices.Insert(bl.spans, i, sp), slices.Insert(bl.bounds, i, b)
	bl.refresh(i + 1)
	s.refresh(k)
}

// split cuts block k, which is full, in two: in halves, or where the next one goes, if
// that is an end of all, so that blocks filled in order stay full.
func (s *rangeSet) split(k, i int) {
	bl, at := s.blocks[k], blockLen/2
	switch {
	case k == len(s.blocks)-1 && i == blockLen:
		at = blockLen - 1
	case k == 0 && i == 0:
		at = 1
	}
	rest := &block{slices.Clone(bl.spans[at:]), slices.Clone(bl.bounds[at:])}
	reach := uint32(0)
	for i, b := range rest.bounds {
		reach = max(reach, b.r.Upper)
		rest.spans[i].reach = reach
	}
	bl.spans, bl.bounds = slices.Clone(bl.spans[:at]), slices.Clone(bl.bounds[:at])
	s.ends, s.blocks = slices.Insert(s.ends, k+1, s.ends[k]), slices.Insert(s.blocks, k+1, rest)
	s.refresh(k)
}

// remove takes a range out that is there.
func (s *rangeSet) remove(b *bound) {
	k, i := s.place(b)
	bl := s.blocks[k]
	bl.spans, bl.bounds = cut(bl.spans, i), cut(bl.bounds, i)
	bl.refresh(i)
	switch {
	case len(bl.bounds) == 0:
		s.ends, s.blocks = cut(s.ends, k), cut(s.blocks, k)
	case s.mergeable(k):
		s.merge(k)
	case s.mergeable(k - 1):
		k--
		s.merge(k)
	}
	s.refresh(k)
}

// mergeable reports whether blocks k and k+1 exist and are nearly empty.
func (s *rangeSet) mergeable(k int) bool {
	return k >= 0 && k+1 < len(s.blocks) && len(s.blocks[k].bounds)+len(s.blocks[k+1].bounds) <= blockLen/2
}

// merge puts block k+1 into block k.
func (s *rangeSet) merge(k int) {
	bl, n := s.blocks[k], len(s.blocks[k].bounds)
	bl.spans = append(bl.spans, s.blocks[k+1].spans...)
	bl.bounds = append(bl.bounds, s.blocks[k+1].bounds...)
	bl.refresh(n)
	s.ends, s.blocks = cut(s.ends, k), cut(s.blocks, k+1)
}

// refresh brings reach up to date from place i on, as far as it changes.
func (bl *block) refresh(i int) {
	reach := uint32(0)
	if i > 0 {
		reach = bl.spans[i-1].reach
	}
	for ; i < len(bl.spans); i++ {
		reach = max(reach, bl.bounds[i].r.Upper)
		if bl.spans[i].reach == reach {
			return
		}
		bl.spans[i].reach = reach
	}
}

// refresh brings ends up to date from block k on, as far as they change. Only block
// k itself has another last range.
func (s *rangeSet) refresh(k int) {
	reach := uint32(0)
	if k > 0 {
		reach = s.ends[k-1].reach
	}
	for i := k; i < len(s.blocks); i++ {
		last := s.blocks[i].spans[len(s.blocks[i].spans)-1]
		end := span{last.lower, max(reach, last.reach)}
		if s.ends[i] == end && i > k {
			return
		}
		reach, s.ends[i] = end.reach, end
	}
}

// cut takes place i out of a and gives memory back when most of it is unused: what
// was large once must not stay so.
func cut[T any](a []T, i int) []T {
	a = slices.Delete(a, i, i+1)
	if cap(a) > 8 && len(a) <= cap(a)/4 {
		return slices.Clone(a)
	}
	return a
}
