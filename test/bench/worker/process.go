// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// grace is how long a job may go on after it was told to stop, and a worker after
// its input has ended.
const grace = 10 * time.Second // a worker that spins beside others on its core may get little time

// ErrHung means that a worker did not answer in time. It was killed.
var ErrHung = errors.New("worker: no answer in time, killed")

// A Process is a worker, seen from its parent. Its methods may be called by several
// goroutines; the worker does one thing at a time.
type Process struct {
	pid  int          // 0: it is on another host
	kill func() error // ends it at once
	end  func() error // returns when it has ended, after no more responses come
	in   io.WriteCloser
	say  tail
	gone chan struct{} // closed when no more responses come

	mu      sync.Mutex // guards what follows, and writing to in
	last    int
	waiting map[int]chan Response
}

// Start starts cmd, which is to call Serve, by start, which calls cmd.Start in the
// place where the worker is to live.
func Start(cmd *exec.Cmd, start func(*exec.Cmd) error) (*Process, error) {
	p := &Process{gone: make(chan struct{}), waiting: map[int]chan Response{}, end: sync.OnceValue(cmd.Wait)}
	cmd.Stderr = &p.say
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := start(cmd); err != nil {
		return nil, err
	}
	p.pid, p.kill = cmd.Process.Pid, cmd.Process.Kill
	go p.read(out)
	return p, nil
}

// Over is a worker at the other end of a connection, which is the Process's from then on.
func Over(c net.Conn) *Process {
	p := &Process{in: c, kill: c.Close, end: func() error { return nil }, gone: make(chan struct{}), waiting: map[int]chan Response{}}
	go p.read(c)
	return p
}

// read hands responses to those who wait for them.
func (p *Process) read(out io.Reader) {
	defer close(p.gone)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Response
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		p.mu.Lock()
		if c := p.waiting[r.ID]; c != nil {
			delete(p.waiting, r.ID)
			c <- r
		}
		p.mu.Unlock()
	}
}

// PID is the process's number; 0 of one on another host.
func (p *Process) PID() int { return p.pid }

// A Call is a request under way.
type Call struct {
	p  *Process
	id int
	c  chan Response
}

func (p *Process) ask(q Request) (*Call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	q.ID = p.last
	k := &Call{p, q.ID, make(chan Response, 1)}
	p.waiting[q.ID] = k.c
	return k, p.write(q)
}

// write is called with p.mu held.
func (p *Process) write(q Request) error {
	b, err := json.Marshal(q)
	if err == nil {
		_, err = p.in.Write(append(b, '\n'))
	}
	return err
}

// Open opens the load.
func (p *Process) Open(o Open) (load.Info, error) {
	k, err := p.ask(Request{Open: &o})
	if err != nil {
		return load.Info{}, p.fault(err)
	}
	r, err := k.wait(opening + grace)
	if err != nil {
		return load.Info{}, err
	}
	if r.Info == nil {
		return load.Info{}, errors.New("worker: an answer to something else")
	}
	return *r.Info, nil
}

// Run begins a job.
func (p *Process) Run(j load.Job) (*Call, error) {
	k, err := p.ask(Request{Run: &j})
	return k, p.fault(err)
}

// Stop ends the job soon.
func (k *Call) Stop() {
	k.p.mu.Lock()
	defer k.p.mu.Unlock()
	k.p.write(Request{Stop: k.id}) // a worker that is gone needs no stop
}

// Result waits for the job's result. A job that has not ended within d is stopped; a
// worker that does not heed that is killed. Errors: ErrHung, what the worker said.
func (k *Call) Result(d time.Duration) (load.Result, error) {
	r, err := k.wait(d)
	if err != nil {
		return load.Result{}, err
	}
	if r.Result == nil {
		return load.Result{}, errors.New("worker: an answer to something else")
	}
	return *r.Result, nil
}

// wait waits for the response: for d, and after a Stop for a little longer.
func (k *Call) wait(d time.Duration) (Response, error) {
	t := time.NewTimer(d)
	defer t.Stop()
	for _, more := range []time.Duration{grace, 0} {
		select {
		case r := <-k.c:
			if r.Error != "" {
				return r, errors.New(r.Error)
			}
			if more == 0 {
				return r, fmt.Errorf("not done within %v", d)
			}
			return r, nil
		case <-k.p.gone:
			select {
			case r := <-k.c:
				if r.Error == "" {
					return r, nil
				}
				return r, errors.New(r.Error)
			default:
			}
			return Response{}, k.p.fault(io.ErrUnexpectedEOF)
		case <-t.C:
			if more > 0 {
				k.Stop()
				t.Reset(more)
			}
		}
	}
	k.p.kill()
	return Response{}, ErrHung
}

// fault adds what the worker wrote to its standard error: all of it, where it has ended.
func (p *Process) fault(err error) error {
	if err == nil {
		return nil
	}
	p.lastWords()
	if s := p.say.String(); s != "" {
		return fmt.Errorf("worker: %w: %s", err, s)
	}
	return fmt.Errorf("worker: %w", err)
}

// lastWords waits until a worker that fails has ended, so that its last words are there.
func (p *Process) lastWords() {
	if p.pid == 0 {
		return // another host's says nothing here
	}
	kill := time.AfterFunc(grace, func() { p.kill() })
	defer kill.Stop()
	<-p.gone
	p.end()
}

// Close ends the worker, kindly at first, and returns when it has ended.
func (p *Process) Close() error {
	p.mu.Lock()
	p.in.Close()
	p.mu.Unlock()
	kill := time.AfterFunc(grace, func() { p.kill() })
	defer kill.Stop()
	<-p.gone
	return p.end()
}
