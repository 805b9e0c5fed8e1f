// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"time"

	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A job is a message whose sender found the node's lock taken: the payload copied,
// to be sent by whoever has the lock.
type job struct {
	*poll.Job
	from sender
	dest backend.Dest
	data []byte
	err  error
}

// submit sends data from s: with the lock if it is free; else the payload is copied, and
// left for whoever has the lock. It returns what the engine said.
func (n *Node) submit(s sender, d backend.Dest, data []byte) error {
	return n.submitSized(s, d, data, len(data))
}

// submitSized is submit for a sender that may have the data itself, size bytes.
func (n *Node) submitSized(s sender, d backend.Dest, data []byte, size int) error {
	if n.loop.TryLock() {
		now := n.sendTime()
		n.eng.Hold(n.loop.InBatch(now, size))
		err := n.send(now, s, d, data)
		n.afterSend(now, size)
		n.loop.Unlock()
		return err
	}
	j, ok := n.idleJobs.Get().(*job)
	if !ok {
		j = new(job)
		j.Job = poll.NewJob(j)
	}
	j.from, j.dest = s, d
	j.data = append(j.data[:0], data...)
	n.loop.Submit(j.Job)
	err := j.err
	j.from, j.err = nil, nil
	n.idleJobs.Put(j)
	return err
}

// runJobs sends what other goroutines have submitted, all with one kick, and small
// ones in common packets.
func (n *Node) runJobs(first *poll.Job) {
	now := n.loop.Now()
	n.eng.Hold(true)
	for p := first; p != nil; {
		j := p.Owner.(*job)
		n.loop.Did(engine.WorkSends, 1)
		j.err = n.send(now, j.from, j.dest, j.data)
		p = p.Done()
	}
	n.pollOnce(now, false)
}

// send hands a message of s to the engine.
func (n *Node) send(now time.Duration, s sender, d backend.Dest, data []byte) error {
	w := s.writes()
	if n.closed || w.closed {
		return engine.ErrClosed
	}
	if backend.Past(w.writeBy) {
		return os.ErrDeadlineExceeded
	}
	return s.put(now, d, data)
}

// sendTime is the time to give a send.
func (n *Node) sendTime() time.Duration {
	n.latest = n.loop.SendTime(n.latest)
	return n.latest
}

// afterSend ends the turn of a sender of k bytes: out with the frames, unless they wait for more;
// now and then a full poll, so that a sender that never waits hears acknowledgements
// too.
func (n *Node) afterSend(now time.Duration, k int) {
	if n.eng.Holding() && !n.eng.Output() {
		n.loop.AskFlush()
		return
	}
	n.sends += 1 + k/poll.BatchLongest
	n.poll(now, n.sends >= pollAfterSends || n.eng.Holding(), false)
	if n.eng.Holding() {
		n.loop.AskFlush()
	}
	n.loop.Resume(n.loop.Now())
}
