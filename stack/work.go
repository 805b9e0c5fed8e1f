// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A job is a message whose sender found the node's lock taken: the payload copied,
// to be sent by whoever has the lock.
type job struct {
	from sender
	dest dest
	data []byte
	err  error
	done chan struct{} // of one place
	next *job
}

// jobLooks is how often a sender looks whether its job is done before it sleeps:
// the holder of the lock is at most a poll away, and to be woken costs more.
const jobLooks = 400

// wait waits until the job is done. parallel: its doer may be running now.
func (j *job) wait(parallel bool) {
	if parallel {
		for range jobLooks {
			select {
			case <-j.done:
				return
			default:
			}
		}
	}
	<-j.done
}

// A jobList is a stack of jobs that anyone may push to and the holder of the node's
// lock empties.
type jobList struct{ head atomic.Pointer[job] }

func (l *jobList) push(j *job) {
	for {
		j.next = l.head.Load()
		if l.head.CompareAndSwap(j.next, j) {
			return
		}
	}
}

// take returns all jobs, oldest first.
func (l *jobList) take() *job {
	var first *job
	for j := l.head.Swap(nil); j != nil; {
		j, j.next, first = j.next, first, j
	}
	return first
}

func (l *jobList) empty() bool { return l.head.Load() == nil }

// submit sends data from s by rule (d): with the lock if it is free; else the
// payload is copied, the job appended, the lock tried once more; and whoever
// unlocks looks at the list again. So a job is always seen, by its own sender or
// by the holder. It returns what the engine said.
func (n *localNode) submit(s sender, d dest, data []byte) error {
	return n.submitSized(s, d, data, len(data))
}

// submitSized is submit for a sender that may have the data itself, size bytes.
func (n *localNode) submitSized(s sender, d dest, data []byte, size int) error {
	if n.mu.TryLock() {
		now := n.sendTime()
		n.eng.Hold(n.inBatch(now, size))
		err := n.send(now, s, d, data)
		n.afterSend(now, size)
		n.unlock()
		return err
	}
	j, ok := n.idleJobs.Get().(*job)
	if !ok {
		j = &job{done: make(chan struct{}, 1)}
	}
	j.from, j.dest = s, d
	j.data = append(j.data[:0], data...)
	n.jobs.push(j)
	if n.mu.TryLock() {
		n.unlock()
	}
	j.wait(n.parallel)
	err := j.err
	j.from, j.err = nil, nil
	n.idleJobs.Put(j)
	return err
}

// unlock ends a turn: it carries out what was appended meanwhile, and looks once
// more after letting go, because who failed to get the lock counts on that.
func (n *localNode) unlock() {
	for {
		if !n.jobs.empty() {
			n.runJobs()
		}
		n.mu.Unlock()
		if n.jobs.empty() || !n.mu.TryLock() {
			return
		}
	}
}

// runJobs sends what other goroutines have appended, all with one kick, and small
// ones in common packets.
func (n *localNode) runJobs() {
	now := n.now()
	n.eng.Hold(true)
	for j := n.jobs.take(); j != nil; {
		next := j.next
		j.next = nil
		n.did(engine.WorkSends, 1)
		j.err = n.send(now, j.from, j.dest, j.data)
		j.done <- struct{}{}
		j = next
	}
	n.pollOnce(now, false)
}

// send hands a message of s to the engine.
func (n *localNode) send(now time.Duration, s sender, d dest, data []byte) error {
	w := s.writes()
	if n.closed || w.closed {
		return engine.ErrClosed
	}
	if past(w.writeBy) {
		return os.ErrDeadlineExceeded
	}
	return s.put(now, d, data)
}
