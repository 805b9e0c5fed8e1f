// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// A clock is virtual time and what is to happen in it. Of things due at the same
// time the one asked for first happens first.
type clock struct {
	now  time.Duration
	heap []due
	seq  uint64
}

type due struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (d due) before(e due) bool { return d.at < e.at || d.at == e.at && d.seq < e.seq }

// at has do called at a time, now if that is past.
func (c *clock) at(t time.Duration, do func()) {
	c.seq++
	c.heap = append(c.heap, due{max(t, c.now), c.seq, do})
	for i := len(c.heap) - 1; i > 0; {
		p := (i - 1) / 2
		if !c.heap[i].before(c.heap[p]) {
			break
		}
		c.heap[i], c.heap[p] = c.heap[p], c.heap[i]
		i = p
	}
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now+d, do) }

// run lets time pass until end, or until stop.
func (c *clock) run(end time.Duration, stop func() bool) {
	for len(c.heap) > 0 && c.heap[0].at <= end && !stop() {
		d := c.pop()
		c.now = d.at
		d.do()
	}
	if !stop() {
		c.now = end
	}
}

func (c *clock) pop() due {
	h := c.heap
	top, n := h[0], len(h)-1
	h[0], h[n] = h[n], due{}
	c.heap = h[:n]
	for i := 0; ; {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h[k+1].before(h[k]) {
			k++
		}
		if !h[k].before(h[i]) {
			break
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
	return top
}
