// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/internal/bed"
)

// A tcpStream is the kernel's TCP, from one namespace to the other, both ends in this
// process as the two nodes of a pair are. It writes 64 KiB at a time.
type tcpStream struct {
	bed   *bed.Bed
	drops [2]*dropper
	ends  [2]*net.TCPConn
	read  atomic.Uint64 // bytes
	errs  [2]error      // of each end's goroutine
	done  sync.WaitGroup
}

func openStream() (_ sender, err error) {
	s := &tcpStream{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.bed, err = openBed(); err != nil {
		return nil, err
	}
	var l *net.TCPListener
	if err := s.bed.Do(1, func() (err error) {
		l, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addresses[1], 0)))
		return err
	}); err != nil {
		return nil, err
	}
	defer l.Close()
	if err := s.bed.Do(0, func() (err error) {
		s.ends[0], err = net.DialTCP("tcp4", nil, l.Addr().(*net.TCPAddr))
		return err
	}); err != nil {
		return nil, err
	}
	if s.ends[1], err = l.AcceptTCP(); err != nil {
		return nil, err
	}
	if s.drops, err = newDroppers(s.bed); err != nil {
		return nil, err
	}
	s.done.Go(func() {
		b := make([]byte, 64<<10)
		for s.errs[0] == nil {
			_, s.errs[0] = s.ends[0].Write(b)
		}
	})
	s.done.Go(func() {
		b := make([]byte, 256<<10)
		for s.errs[1] == nil {
			var n int
			n, s.errs[1] = s.ends[1].Read(b)
			s.read.Add(uint64(n))
		}
	})
	return s, nil
}

func (s *tcpStream) lose(share float64) error { return setDroppers(s.drops, share) }

func (s *tcpStream) goodput(ctx context.Context, d time.Duration) float64 {
	return rate(ctx, d, s.read.Load)
}

func (s *tcpStream) end() error {
	for _, c := range s.ends {
		c.SetDeadline(time.Unix(1, 0))
	}
	s.done.Wait()
	s.close()
	for i, err := range s.errs {
		if errors.Is(err, os.ErrDeadlineExceeded) || i == 1 && errors.Is(err, io.EOF) {
			s.errs[i] = nil
		}
	}
	return errors.Join(s.errs[:]...)
}

func (s *tcpStream) close() {
	closeDroppers(s.drops)
	for _, c := range s.ends {
		if c != nil {
			c.SetLinger(0)
			c.Close()
		}
	}
	if s.bed != nil {
		s.bed.Close()
	}
}
