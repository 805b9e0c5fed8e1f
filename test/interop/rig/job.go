// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"github.com/utipc/utipc/test/interop/channel"
)

// An ExitError is a program in the guest that did not end with status 0.
type ExitError struct {
	Code   int    // its status, or 128 plus the signal that killed it
	Output string // all it printed
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("rig: exit status %d: %s", e.Code, e.Output)
}

// A Job is a program running in a guest. Goroutines may share it, but each
// line is for one Expect only.
type Job struct {
	g  *Guest
	id int

	mu      sync.Mutex // guards what follows
	lines   []string   // all it printed, standard error among it
	next    int        // the first line that Expect has not seen
	ended   bool
	code    int
	err     error         // why there is no code
	changed chan struct{} // closed, and made anew, at each change of the above
}

// Job starts a program in the guest, without a shell. What the program prints
// is kept in memory.
func (g *Guest) Job(ctx context.Context, args ...string) (*Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	if g.gone != nil {
		g.mu.Unlock()
		return nil, g.gone
	}
	g.last++
	j := &Job{g: g, id: g.last, changed: make(chan struct{})}
	g.jobs[j.id] = j
	g.mu.Unlock()
	if err := j.tell(channel.Message{Op: channel.Start, Args: args}); err != nil {
		return nil, err
	}
	return j, nil
}

// Run carries out a shell command in the guest and returns what it printed,
// standard error among it, without the last newline. A status other than 0 is
// an *ExitError. What the command leaves in the background must print
// elsewhere.
func (g *Guest) Run(ctx context.Context, cmd string) (out string, err error) {
	j, err := g.Job(ctx, "sh", "-c", cmd)
	if err != nil {
		return "", err
	}
	lines, code, err := j.Wait(ctx)
	if err != nil {
		j.Kill()
	}
	out = strings.Join(lines, "\n")
	if err == nil && code != 0 {
		err = &ExitError{code, out}
	}
	return out, err
}

// tell sends a message about the job.
func (j *Job) tell(m channel.Message) error {
	m.ID = j.id
	if err := j.g.out.Send(m); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// Send writes a line to the job's standard input. A job that has ended does
// not mind.
func (j *Job) Send(line string) error { return j.tell(channel.Message{Op: channel.Input, Text: line}) }

// CloseInput ends the job's standard input.
func (j *Job) CloseInput() error { return j.tell(channel.Message{Op: channel.EOF}) }

// Signal sends a signal to the job's process group.
func (j *Job) Signal(s syscall.Signal) error {
	return j.tell(channel.Message{Op: channel.Kill, Code: int(s)})
}

// Kill ends the job with SIGKILL, without waiting.
func (j *Job) Kill() error { return j.Signal(syscall.SIGKILL) }

// Expect waits for a line that contains substr, passing over those before it,
// and returns it. The next Expect looks at the lines after it. It fails, and
// passes over nothing, when the job or the context ends first.
func (j *Job) Expect(ctx context.Context, substr string) (line string, err error) {
	seen := -1
	for {
		j.mu.Lock()
		if seen < j.next {
			seen = j.next
		}
		for ; seen < len(j.lines); seen++ {
			if l := j.lines[seen]; strings.Contains(l, substr) {
				j.next = seen + 1
				j.mu.Unlock()
				return l, nil
			}
		}
		since := strings.Join(j.lines[j.next:], "\n")
		ended, code, why, changed := j.ended, j.code, j.err, j.changed
		j.mu.Unlock()
		switch {
		case why != nil:
			return "", fmt.Errorf("rig: waiting for %q: %w; got:\n%s", substr, why, since)
		case ended:
			return "", fmt.Errorf("rig: waiting for %q: %w", substr, &ExitError{code, since})
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", fmt.Errorf("rig: waiting for %q: %w; got:\n%s", substr, ctx.Err(), since)
		}
	}
}

// Wait waits for the job's end and returns all lines it printed, those that
// Expect returned too, and its status.
func (j *Job) Wait(ctx context.Context) (lines []string, code int, err error) {
	for {
		j.mu.Lock()
		lines, code, err = j.lines[:len(j.lines):len(j.lines)], j.code, j.err
		ended, changed := j.ended, j.changed
		j.mu.Unlock()
		if ended || err != nil {
			return lines, code, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return lines, 0, fmt.Errorf("rig: waiting for a job's end: %w", ctx.Err())
		}
	}
}

// Lines returns all that the job has printed so far.
func (j *Job) Lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines[:len(j.lines):len(j.lines)]
}

// handle takes in what the guest said about the job.
func (j *Job) handle(m channel.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch m.Op {
	case channel.Line:
		j.lines = append(j.lines, m.Text)
	case channel.Exit:
		if m.Text != "" {
			j.lines = append(j.lines, m.Text)
		}
		j.ended, j.code = true, m.Code
	}
	j.changedLocked()
}

// abandon ends the job of a guest that is gone.
func (j *Job) abandon(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = why
	j.changedLocked()
}

func (j *Job) changedLocked() {
	close(j.changed)
	j.changed = make(chan struct{})
}
