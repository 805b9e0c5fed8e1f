// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// hold is how long a rank keeps a page that it waited for, so that its program gets at least to
// the access for which it waits: two ranks that write to one page would otherwise take it from
// each other for ever. (Mirage, Fleisch and Popek, 1989, calls it Δ.)
const hold = 100 * time.Microsecond

// A right is what the program may do with a page.
type right byte

const (
	nothing right = iota
	reading
	writing
)

// local is what a pager knows of a page at its own program.
type local struct {
	right  right
	waits  right // that it asked the home for; nothing: for none
	since  time.Time
	handed bool // since is when the page was handed to the program
}

// A pager serves the faults of one program, in another process than the program. A thread of the
// program that waits for a page is not in a system call as Go sees it: it keeps its P, and within
// assembly, as copy's, it cannot be preempted. If the program's collector then stops the world, all
// its goroutines wait until the page is there. Nothing that brings the page is among them.
type pager struct {
	rank, ranks int
	t           transport
	faults      faults
	memory      []byte // the program's region, mapped a second time
	file        int    // memfd of both
	lower       uint32 // first page whose home this is

	mu       sync.Mutex  // guards the following, and is held while a message is sent
	pages    []local     // the program's
	home     []directory // of the pages whose home this is
	inbox    []message   // to itself
	ended    []bool      // ranks whose programs have
	err      error       // that ended it
	finished chan struct{}
	once     sync.Once
}

func newPager(rank, count int, t transport, f faults, memory []byte, file int) *pager {
	pages := uint32(len(memory) / pageSize)
	lower, upper := homes(rank, count, pages)
	p := &pager{
		rank: rank, ranks: count, t: t, faults: f, memory: memory, file: file, lower: lower,
		pages: make([]local, pages), home: make([]directory, upper-lower), ended: make([]bool, count),
		finished: make(chan struct{}),
	}
	for i := range p.home {
		p.home[i] = *newDirectory()
	}
	return p
}

// serve serves faults until end can be read.
func (p *pager) serve(end int) {
	for {
		page, write, ok, err := p.faults.next(end)
		if err != nil {
			p.fail(err)
		}
		if !ok || err != nil {
			return
		}
		p.do(func() error { return p.fault(page, write) })
	}
}

// do runs f and handles what this rank then sends itself; an error ends the pager.
func (p *pager) do(f func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	err := f()
	for err == nil && len(p.inbox) > 0 {
		m := p.inbox[0]
		p.inbox = p.inbox[1:]
		err = p.handle(m)
	}
	if err != nil {
		p.failLocked(err)
	}
}

// fault asks the page's home, unless that was done, or the page has come meanwhile.
func (p *pager) fault(page uint32, write bool) error {
	l, needs := &p.pages[page], reading
	if write {
		needs = writing
	}
	if l.right >= needs {
		return p.faults.wake(page)
	}
	if l.waits != nothing {
		return nil // what comes wakes all; who needs more will fault again
	}
	l.waits = needs
	m := message{kind: want, write: write, rank: p.rank, page: page}
	if p.isHome(page) {
		p.inbox = append(p.inbox, m)
		return nil
	}
	return p.t.toHome(page, m.append(nil))
}

func (p *pager) isHome(page uint32) bool { return page-p.lower < uint32(len(p.home)) }

func (p *pager) post(to int, m message) error {
	m.rank = p.rank
	if to == p.rank {
		p.inbox = append(p.inbox, m)
		return nil
	}
	return p.t.toRank(to, m.append(nil))
}

// receive takes what the transport brings.
func (p *pager) receive(b []byte) {
	p.do(func() error {
		m, err := parse(b)
		if err == nil && (m.rank >= p.ranks || m.page >= uint32(len(p.pages))) {
			err = errMessage
		}
		if err != nil {
			return err
		}
		return p.handle(m)
	})
}

func (p *pager) handle(m message) error {
	switch m.kind {
	case want, back:
		if !p.isHome(m.page) {
			return errMessage
		}
		for _, l := range p.home[m.page-p.lower].handle(m) {
			if err := p.post(l.to, l.m); err != nil {
				return err
			}
		}
		return nil
	case recall:
		l := &p.pages[m.page]
		if rest := hold - time.Since(l.since); l.handed && rest > 0 {
			time.AfterFunc(rest, func() { p.do(func() error { return p.giveBack(m) }) })
			return nil
		}
		return p.giveBack(m)
	case grant:
		return p.take(m)
	case done:
		p.end(m.rank)
		return nil
	}
	return errMessage
}

// take hands a page to the program.
func (p *pager) take(m message) error {
	l := &p.pages[m.page]
	l.right, l.waits = reading, nothing
	if m.write {
		l.right = writing
	}
	l.since, l.handed = time.Now(), true
	if m.data == nil {
		return p.faults.protect(m.page, false)
	}
	return p.faults.install(m.page, m.data, m.write)
}

// giveBack answers a recall. Once the page is write-protected nobody changes it.
func (p *pager) giveBack(m message) error {
	l := &p.pages[m.page]
	answer := message{kind: back, write: m.write, page: m.page}
	if l.right == writing {
		if err := p.faults.protect(m.page, true); err != nil {
			return err
		}
		at := int(m.page) * pageSize
		answer.data = append([]byte(nil), p.memory[at:at+pageSize]...)
		l.right = reading
	}
	if m.write {
		if err := p.drop(m.page); err != nil {
			return err
		}
		l.right, l.handed = nothing, false
	}
	if p.isHome(m.page) {
		answer.rank = p.rank
		p.inbox = append(p.inbox, answer)
		return nil
	}
	answer.rank = p.rank
	return p.t.toHome(m.page, answer.append(nil))
}

// drop takes a page out of the file, and so out of the program's memory.
func (p *pager) drop(page uint32) error {
	err := unix.Fallocate(p.file, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(page)*pageSize, pageSize)
	return os.NewSyscallError("fallocate", err)
}

// programEnded tells all ranks. A pager serves until it has heard so of all: others may still
// want its pages.
func (p *pager) programEnded() {
	p.do(func() error {
		for rank := range p.ranks {
			if err := p.post(rank, message{kind: done}); err != nil && !p.ended[rank] {
				return err
			}
		}
		return nil
	})
}

func (p *pager) end(rank int) {
	p.ended[rank] = true
	for _, is := range p.ended {
		if !is {
			return
		}
	}
	p.once.Do(func() { close(p.finished) })
}

// lost ends the pager, unless its program has ended: then the rank is one that waits for no page
// any more, whether it said so or not.
func (p *pager) lost(rank int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rank != noRank && p.ended[p.rank] {
		p.end(rank)
		return
	}
	p.failLocked(err)
}

// cause is why the pager ended; nil: it has not, or all programs have.
func (p *pager) cause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *pager) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failLocked(err)
}

// failLocked makes every access of the program to the region an error: the file has no pages any
// more, so what waits for one, and what comes later, gets SIGBUS.
func (p *pager) failLocked(err error) {
	if p.err != nil {
		return
	}
	p.err = err
	if end := errors.Join(unix.Ftruncate(p.file, 0), p.faults.release()); end != nil {
		p.err = errors.Join(err, end)
	}
	p.once.Do(func() { close(p.finished) })
}
