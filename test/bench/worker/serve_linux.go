// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// ahead is how many requests may wait for the one that is carried out, and Stop
// still be heard.
const ahead = 16

// An Opener opens the load that o names. OpenLoad is this program's; another program,
// with loads of its own, brings its own.
type Opener func(ctx context.Context, o Open) (load.Load, error)

// Serve is the worker's end: it carries out requests until the input ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open Opener) error {
	s := &server{open: open, out: json.NewEncoder(out), work: make(chan Request, ahead)}
	var done sync.WaitGroup
	done.Go(func() {
		for q := range s.work {
			s.do(q)
		}
		if s.load != nil {
			s.load.Close()
		}
	})
	ctx, cancel := context.WithCancel(ctx)
	err := s.read(ctx, bufio.NewReader(in))
	cancel() // the job, if one runs
	close(s.work)
	done.Wait()
	return err
}

// A server carries out one request after the other; only Stop overtakes.
type server struct {
	open Opener
	out  *json.Encoder
	work chan Request
	load load.Load

	mu   sync.Mutex // guards jobs
	jobs map[int]job
}

// A job is one that was asked for and has not ended.
type job struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// read takes requests in until the input ends.
func (s *server) read(ctx context.Context, in *bufio.Reader) error {
	s.jobs = map[int]job{}
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("not a request: %w", err)
		}
		if q.Stop != 0 {
			s.mu.Lock()
			if j, ok := s.jobs[q.Stop]; ok {
				j.cancel()
			}
			s.mu.Unlock()
			continue
		}
		c, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.jobs[q.ID] = job{c, cancel}
		s.mu.Unlock()
		s.work <- q
	}
}

// do carries out a request and answers it.
func (s *server) do(q Request) {
	s.mu.Lock()
	j := s.jobs[q.ID]
	s.mu.Unlock()
	defer func() {
		j.cancel()
		s.mu.Lock()
		delete(s.jobs, q.ID)
		s.mu.Unlock()
	}()
	r := Response{ID: q.ID}
	var err error
	switch {
	case q.Open != nil && s.load != nil:
		err = errors.New("a load is open already")
	case q.Open != nil:
		ctx, cancel := context.WithTimeout(j.ctx, opening)
		defer cancel()
		if s.load, err = s.open(ctx, *q.Open); err == nil {
			info := s.load.Info()
			r.Info = &info
		}
	case q.Run != nil && s.load == nil:
		err = errors.New("no load is open")
	case q.Run != nil:
		var result load.Result
		if result, err = s.run(j.ctx, *q.Run); err == nil {
			r.Result = &result
		}
	default:
		err = errors.New("an empty request")
	}
	if err != nil {
		r.Error = err.Error()
	}
	s.out.Encode(r)
}

// run runs a job, from a clean heap, and profiles it if asked to.
func (s *server) run(ctx context.Context, j load.Job) (load.Result, error) {
	runtime.GC()
	if j.Profile != "" {
		f, err := os.Create(j.Profile)
		if err != nil {
			return load.Result{}, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return load.Result{}, err
		}
		defer pprof.StopCPUProfile()
	}
	before := processorTime()
	r, err := s.load.Run(ctx, j)
	r.CPU = processorTime() - before
	return r, err
}

// processorTime is what this process has used, user and system.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
