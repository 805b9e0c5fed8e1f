// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/utipc/utipc/test/interop/channel"
)

// An agent runs the host's jobs. One goroutine reads the serial line; each job
// has one that waits for its end and one that feeds its standard input.
type agent struct {
	out  *channel.Writer
	mu   sync.Mutex // guards jobs
	jobs map[int]*job
}

// A job is one running program.
type job struct {
	cmd   *exec.Cmd
	input chan string // closed by the host's eof, nil afterwards; belongs to serve's goroutine
}

// inputQueue is how many lines may wait for a job that does not read.
const inputQueue = 4096

func newAgent(w io.Writer) *agent {
	return &agent{out: channel.NewWriter(w), jobs: make(map[int]*job)}
}

// serve carries out the host's messages until the line breaks.
func (a *agent) serve(r io.Reader) error {
	in := channel.NewReader(r)
	for {
		m, err := in.Receive()
		if err != nil {
			return err
		}
		if m.Op == channel.Start {
			a.start(m.ID, m.Args)
			continue
		}
		a.mu.Lock()
		j := a.jobs[m.ID]
		a.mu.Unlock()
		if j == nil {
			continue // it has ended and the host does not know yet
		}
		switch {
		case m.Op == channel.Kill:
			syscall.Kill(-j.cmd.Process.Pid, syscall.Signal(m.Code))
		case m.Op == channel.Input && j.input != nil:
			select {
			case j.input <- m.Text:
			default:
				a.out.Send(channel.Message{Op: channel.Line, ID: m.ID, Text: "rig: input lost, the job does not read"})
			}
		case m.Op == channel.EOF && j.input != nil:
			close(j.input)
			j.input = nil
		}
	}
}

// start runs a program in a session of its own.
func (a *agent) start(id int, args []string) {
	j, output, err := launch(args)
	if err != nil {
		a.out.Send(channel.Message{Op: channel.Exit, ID: id, Code: 127, Text: err.Error()})
		return
	}
	a.mu.Lock()
	a.jobs[id] = j
	a.mu.Unlock()
	lines := &lineWriter{id: id, out: a.out}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		output.copyTo(lines)
	}()
	go func() {
		j.cmd.Wait()
		output.hurry()
		<-printed
		a.mu.Lock()
		delete(a.jobs, id)
		a.mu.Unlock()
		lines.flush()
		a.out.Send(channel.Message{Op: channel.Exit, ID: id, Code: exitCode(j.cmd.ProcessState)})
	}()
}

// launch starts a program and its feeder.
func launch(args []string) (*job, *output, error) {
	if len(args) == 0 {
		return nil, nil, errors.New("no program")
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer write.Close()
	c := exec.Command(args[0], args[1:]...)
	c.Stdout, c.Stderr = write, write
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		read.Close()
		return nil, nil, err
	}
	j := &job{cmd: c, input: make(chan string, inputQueue)}
	go feed(stdin, j.input)
	return j, &output{pipe: read}, nil
}

// feed writes lines to a job's standard input and closes it after the last.
func feed(w io.WriteCloser, lines <-chan string) {
	defer w.Close()
	for l := range lines {
		if _, err := io.WriteString(w, l+"\n"); err != nil {
			for range lines { // nobody reads any more
			}
			return
		}
	}
}

func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
