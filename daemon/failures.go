// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"sync"
	"syscall"

	"github.com/utipc/utipc/attach"
)

// Failures are sends that were not to be answered and that the program is yet to be told
// of. It is told as soon as it reads; the sends after them do not wait for that.
type failures struct {
	mu      sync.Mutex
	writing bool // a goroutine waits for room
	gone    bool // the program has: nothing is kept any more
	left    []failure
}

// A failure is a record to be written, and what it is charged.
type failure struct {
	outgoing
	charged int
}

// Limits of what is kept for a program that does not read.
const (
	mostFailures = 16   // beyond that they are counted
	mostReturned = 1024 // bytes of the message, as of one that comes back from another node
)

// report tells of a send that failed and was not to be answered. Errors: that the program
// has gone.
func (p *port) report(h *attach.Header, message []byte, why error) error {
	p.x.client.failed.Add(1)
	p.x.srv.counters.failed.Add(1)
	errno, data := encode(why)
	r := attach.Header{Op: attach.OpFailed, ID: h.ID, Errno: errno, Addr: h.Addr, Arg0: 1}
	switch c := p.is().conn; {
	case c != nil && p.x.features&attach.FeatureCounts != 0:
		r.Wide = p.placed(c)
	case p.x.features&attach.FeatureReports != 0:
		begin := message[:min(len(message), mostReturned)]
		r.Arg1, r.Wide = uint32(len(begin)), uint64(len(message))
		data = append(data[:len(data):len(data)], begin...)
	}
	f := &p.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return nil
	}
	if !f.writing {
		err := p.x.c.TryWrite(&r, data)
		if err != syscall.EAGAIN {
			return err
		}
		f.writing = true
		p.x.srv.wg.Go(p.writeFailures)
	}
	f.keep(p.x.client, failure{outgoing: outgoing{h: r, data: data}})
	return nil
}

// keep keeps a report, charged to the client. One too many takes the place of the last, and counts
// it: what is told last always says how many went before it. The only one is kept without charge,
// so that there is a last: a socket has at most one such.
func (f *failures) keep(c *client, r failure) {
	if last := len(f.left) - 1; last >= 0 {
		if last+1 == mostFailures || c.charge(queuedBytes, r.bytes()) != nil {
			f.left[last].replace(r)
			return
		}
		r.charged = r.bytes()
	}
	f.left = append(f.left, r)
}

// replace puts a later report in the place of one that was charged: it may not be longer, and loses
// the message, then the words of its error, where they have no room.
func (f *failure) replace(r failure) {
	r.h.Arg0 += f.h.Arg0
	if f.charged > 0 && r.bytes() > f.charged {
		r.data, r.h.Arg1 = r.data[:len(r.data)-int(r.h.Arg1)], 0
	}
	if f.charged > 0 && r.bytes() > f.charged {
		r.data = nil
	}
	r.charged = f.charged
	*f = r
}

// writeFailures waits for room and writes what is left to be told, until nothing is.
func (p *port) writeFailures() {
	f := &p.failures
	for {
		f.mu.Lock()
		if len(f.left) == 0 {
			f.writing, f.left = false, nil
			f.mu.Unlock()
			return
		}
		r := f.left[0]
		f.left = f.left[1:]
		f.mu.Unlock()
		err := p.x.c.Write(&r.h, r.data)
		p.x.client.release(queuedBytes, r.charged)
		if err != nil { // the program has gone: what is left is nobody's
			f.drop(p.x.client)
			return
		}
	}
}

// drop forgets what is left.
func (f *failures) drop(c *client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.left {
		c.release(queuedBytes, f.left[i].charged)
	}
	f.gone, f.left = true, nil
}
