// SPDX-License-Identifier: Apache-2.0

package others

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/quic-go/quic-go"
	"golang.org/x/sync/errgroup"
)

// certificate is one for example.com, and who trusts it.
func certificate() (tls.Certificate, *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s.TLS.Certificates[0], pool
}

// runQUIC has a hundred streams, ten at once, with 16 KiB that come back on each. QUIC brings its own
// repetition and congestion control, which have nothing to do here: a datagram of tipcrdm is
// not lost.
func runQUIC(ctx context.Context, t testing.TB, p place) {
	cert, pool := certificate()
	serverConn, clientConn, err := p.packets()
	must(t, err)
	server, client := &quic.Transport{Conn: serverConn}, &quic.Transport{Conn: clientConn}
	defer func() {
		must(t, client.Close())
		must(t, server.Close())
		must(t, clientConn.Close())
		must(t, serverConn.Close())
	}()
	ln, err := server.Listen(&tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"echo"}}, nil)
	must(t, err)
	defer ln.Close()
	served := make(chan error, 1)
	go func() { served <- serveQUIC(ctx, ln) }()

	c, err := client.Dial(ctx, serverConn.LocalAddr(), &tls.Config{RootCAs: pool, ServerName: "example.com", NextProtos: []string{"echo"}}, nil)
	must(t, err)
	var group errgroup.Group
	group.SetLimit(10)
	for i := range 100 {
		group.Go(func() error {
			s, err := c.OpenStreamSync(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			return comesBack(s, bytes.Repeat([]byte{byte(i)}, 16<<10))
		})
	}
	must(t, group.Wait())
	must(t, c.CloseWithError(0, ""))
	must(t, <-served)
}

// serveQUIC echoes on the streams of the first connection until it ends.
func serveQUIC(ctx context.Context, ln *quic.Listener) error {
	c, err := ln.Accept(ctx)
	if err != nil {
		return err
	}
	for {
		s, err := c.AcceptStream(ctx)
		if err != nil {
			return nil // the client has closed the connection
		}
		go func() {
			io.Copy(s, s)
			s.Close()
		}()
	}
}
