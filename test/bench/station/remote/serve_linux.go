// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/cores"
	"github.com/utipc/utipc/test/bench/worker"
)

// A Config says what a host offers.
type Config struct {
	Secret  string
	Welcome Welcome  // without Error
	Program []string // serves as a worker
	Cores   []int    // those that workers may have
	Say     func(format string, args ...any)
}

// Serve greets whoever connects, and has workers run for those who know the secret, until
// ctx is done.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var all sync.WaitGroup
	defer all.Wait()
	free := make(chan struct{}, most)
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case free <- struct{}{}:
		default:
			conn.Close() // enough
			continue
		}
		all.Go(func() {
			defer func() { <-free }()
			defer conn.Close()
			if err := c.serve(ctx, conn); err != nil {
				c.Say("%v: %v", conn.RemoteAddr(), err)
			}
		})
	}
}

// serve serves a connection.
func (c *Config) serve(ctx context.Context, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(greeting))
	in := bufio.NewReaderSize(conn, longest)
	var h Hello
	if err := readLine(in, &h); err != nil {
		return err
	}
	w := c.Welcome
	var err error
	switch {
	case subtle.ConstantTimeCompare([]byte(h.Secret), []byte(c.Secret)) != 1:
		w, err = Welcome{Error: "that is not the secret"}, errors.New("does not know the secret")
	case h.Core < 0 || h.Core >= len(c.Cores) || h.Nice < -20 || h.Nice > 19:
		w, err = Welcome{Error: "there is no such core, or priority"}, errors.New("asks for what there is not")
	}
	if e := json.NewEncoder(conn).Encode(w); e != nil || err != nil || !h.Work {
		return errors.Join(e, err)
	}
	conn.SetDeadline(time.Time{})
	c.Say("%v: a worker on core %d", conn.RemoteAddr(), c.Cores[h.Core])
	return c.work(ctx, conn, in, h)
}

// work runs a worker until the connection or the worker ends.
func (c *Config) work(ctx context.Context, conn net.Conn, in *bufio.Reader, h Hello) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Program[0], c.Program[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: h.Nice != 0}
	cmd.Stdout = conn
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cores.On(c.Cores[h.Core], cmd.Start); err != nil {
		return err
	}
	if h.Nice != 0 {
		err = cores.Prefer(cmd.Process.Pid, h.Nice)
	}
	if err == nil {
		err = c.pass(in, stdin)
	}
	stdin.Close() // the worker ends, or is ended when nobody is there any more
	kill := time.AfterFunc(greeting, cancel)
	defer kill.Stop()
	conn.Close()
	if e := cmd.Wait(); err == nil && e != nil && ctx.Err() == nil {
		err = e
	}
	return err
}

// pass hands on requests, as far as they are allowed, until the connection ends.
func (c *Config) pass(in *bufio.Reader, out io.Writer) error {
	for {
		var q worker.Request
		err := readLine(in, &q)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
			return nil
		}
		if err == nil {
			err = c.allow(&q)
		}
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(q); err != nil {
			return err
		}
	}
}

// allow takes out of a request what another host has no business with.
func (c *Config) allow(q *worker.Request) error {
	if q.Run != nil {
		q.Run.Profile = ""
	}
	if q.Open == nil {
		return nil
	}
	switch q.Open.Load {
	case worker.Bare, worker.TIPC, worker.Conns, worker.TCP, worker.UDP, worker.Burn:
	default:
		return fmt.Errorf("asks for the load %q", q.Open.Load)
	}
	q.Open.Iface, q.Open.Path = c.Welcome.Iface, ""
	return nil
}
