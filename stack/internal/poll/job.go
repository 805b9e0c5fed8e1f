// SPDX-License-Identifier: Apache-2.0

package poll

import "sync/atomic"

// A Job is work for the Machine that was submitted by a caller without the lock.
type Job struct {
	Owner any // as given to NewJob
	done  chan struct{}
	next  *Job
}

// NewJob returns a Job that can be submitted again and again.
func NewJob(owner any) *Job { return &Job{Owner: owner, done: make(chan struct{}, 1)} }

// Done ends the Job, whose submitter goes on, and returns the next one, or nil. It is called
// by the Machine.
func (j *Job) Done() (next *Job) {
	next, j.next = j.next, nil
	j.done <- struct{}{}
	return next
}

// jobLooks is how often a submitter looks whether its job is done before it sleeps:
// the holder of the lock is at most a poll away, and to be woken costs more.
const jobLooks = 400

// wait waits until the job is done. parallel: its doer may be running now.
func (j *Job) wait(parallel bool) {
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

// Submit has the Machine do j, by rule (d), and waits for that. It is for a caller that found
// the lock taken. The job is appended, the lock tried once more, and whoever unlocks looks at
// the list again: so it is always seen, by its own submitter or by the holder.
func (l *Loop) Submit(j *Job) {
	l.jobs.push(j)
	if l.mu.TryLock() {
		l.Unlock()
	}
	j.wait(l.parallel)
}

// A jobList is a stack of jobs that anyone may push to and the holder of the lock empties.
type jobList struct{ head atomic.Pointer[Job] }

func (l *jobList) push(j *Job) {
	for {
		j.next = l.head.Load()
		if l.head.CompareAndSwap(j.next, j) {
			return
		}
	}
}

// take returns all jobs, oldest first.
func (l *jobList) take() *Job {
	var first *Job
	for j := l.head.Swap(nil); j != nil; {
		j, j.next, first = j.next, first, j
	}
	return first
}

func (l *jobList) empty() bool { return l.head.Load() == nil }
