// SPDX-License-Identifier: Apache-2.0

package others

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
	"github.com/xtaci/smux"
	"golang.org/x/sync/errgroup"
)

// A session has many streams on one connection.
type session struct {
	accept func() (io.ReadWriteCloser, error)
	open   func() (io.ReadWriteCloser, error)
	close  func() error
}

func runYamux(ctx context.Context, t testing.TB, p place) {
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard
	of := func(s *yamux.Session, err error) (session, error) {
		return session{
			func() (io.ReadWriteCloser, error) { return s.Accept() },
			func() (io.ReadWriteCloser, error) { return s.Open() },
			s.Close,
		}, err
	}
	exchange(ctx, t, p,
		func(c net.Conn) (session, error) { return of(yamux.Server(c, config)) },
		func(c net.Conn) (session, error) { return of(yamux.Client(c, config)) })
}

func runSmux(ctx context.Context, t testing.TB, p place) {
	of := func(s *smux.Session, err error) (session, error) {
		return session{
			func() (io.ReadWriteCloser, error) { return s.AcceptStream() },
			func() (io.ReadWriteCloser, error) { return s.OpenStream() },
			s.Close,
		}, err
	}
	exchange(ctx, t, p,
		func(c net.Conn) (session, error) { return of(smux.Server(c, nil)) },
		func(c net.Conn) (session, error) { return of(smux.Client(c, nil)) })
}

// exchange opens a hundred streams, ten at once, and has 16 KiB come back on each.
func exchange(ctx context.Context, t testing.TB, p place, server, client func(net.Conn) (session, error)) {
	ln, err := p.listen()
	must(t, err)
	defer ln.Close()
	served := make(chan error, 1)
	go func() { served <- serveStreams(ln, server) }()
	c, err := p.dial(ctx)
	must(t, err)
	s, err := client(c)
	must(t, err)
	var group errgroup.Group
	group.SetLimit(10)
	for i := range 100 {
		group.Go(func() error {
			stream, err := s.open()
			if err != nil {
				return err
			}
			defer stream.Close()
			return comesBack(stream, bytes.Repeat([]byte{byte(i)}, 16<<10))
		})
	}
	must(t, group.Wait())
	must(t, s.close())
	must(t, <-served)
}

// serveStreams echoes on the streams of the first connection until it ends.
func serveStreams(ln net.Listener, server func(net.Conn) (session, error)) error {
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	s, err := server(c)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		stream, err := s.accept()
		if err != nil {
			return nil // the client has closed the session
		}
		go func() {
			io.Copy(stream, stream)
			stream.Close()
		}()
	}
}

// comesBack writes and reads at once.
func comesBack(stream io.ReadWriter, b []byte) error {
	wrote := make(chan error, 1)
	go func() {
		_, err := stream.Write(b)
		wrote <- err
	}()
	got := make([]byte, len(b))
	if n, err := io.ReadFull(stream, got); err != nil {
		return fmt.Errorf("%d of %d bytes came back: %w", n, len(b), err)
	}
	if !bytes.Equal(got, b) {
		return fmt.Errorf("other bytes came back")
	}
	return <-wrote
}
