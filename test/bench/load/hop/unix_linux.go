// SPDX-License-Identifier: Apache-2.0

package hop

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// A Unix is one end of a UNIX socket that keeps packets apart.
type Unix struct {
	l net.Listener
	c net.Conn // at end 1 since the first job
}

// OpenUnix listens at path, as end 1, or connects.
func OpenUnix(path string, end int) (u *Unix, err error) {
	u = &Unix{}
	if end == 1 {
		u.l, err = net.Listen("unixpacket", path)
	} else {
		u.c, err = net.Dial("unixpacket", path)
	}
	return u, err
}

// Info implements load.Load.
func (u *Unix) Info() load.Info { return load.Info{Driver: "unixpacket"} }

// Close implements load.Load.
func (u *Unix) Close() error {
	if u.c != nil {
		u.c.Close()
	}
	if u.l != nil {
		return u.l.Close()
	}
	return nil
}

// Run implements load.Load.
func (u *Unix) Run(ctx context.Context, j load.Job) (r load.Result, err error) {
	if u.c == nil {
		if u.c, err = u.l.Accept(); err != nil {
			return r, err
		}
	}
	if err := u.c.SetDeadline(time.Time{}); err != nil {
		return r, err
	}
	defer load.OnStop(ctx, func() { u.c.SetDeadline(time.Now()) })()
	b := make([]byte, j.Size)
	switch j.Kind {
	case load.Ping:
		t := load.NewTrips(j.For)
		for more := true; more; more = t.Next() {
			if _, err = u.c.Write(b); err == nil {
				_, err = u.c.Read(b)
			}
			if err != nil {
				return t.Result(j.Size), stopped(ctx, err)
			}
		}
		return t.Result(j.Size), nil
	case load.Pong:
		var n load.Count
		for {
			if _, err = u.c.Read(b); err == nil {
				_, err = u.c.Write(b)
			}
			if err != nil {
				n.Fill(&r)
				return r, stopped(ctx, err)
			}
			n.Add(2)
		}
	}
	return r, errors.New("a UNIX socket has round trips alone")
}

// stopped is nil for the deadline of a job that was told to stop.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}
