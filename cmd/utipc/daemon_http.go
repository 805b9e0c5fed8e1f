// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/metrics"
	"github.com/utipc/utipc/internal/settings"
)

// Limits of the port for metrics.
const (
	metricsConns   = 32 // at once; more are closed
	metricsHeader  = 8 << 10
	metricsTimeout = 10 * time.Second // to send a request
	metricsAnswer  = 2 * time.Minute  // to read the answer, and so the longest profile
)

// A metricsServer serves metrics, and profiles if asked, over HTTP.
type metricsServer struct {
	http http.Server
	ln   net.Listener
}

// serveMetrics begins to, if the settings ask for it.
func (d *daemonProcess) serveMetrics() error {
	c := d.settings.Metrics
	if c.Listen == "" {
		return nil
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("metrics: %w: choose another --metrics ADDRESS:PORT", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", d.metricsPage)
	if c.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	var h http.Handler = mux
	if settings.Local(c.Listen) {
		h = onlyLocalNames(mux)
	}
	m := &metricsServer{ln: &limitedListener{Listener: ln, room: make(chan struct{}, metricsConns)}, http: http.Server{
		Handler: h, ReadHeaderTimeout: metricsTimeout, ReadTimeout: metricsTimeout, WriteTimeout: metricsAnswer, IdleTimeout: time.Minute, MaxHeaderBytes: metricsHeader,
		ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}}
	d.http = m
	go func() {
		if err := m.http.Serve(m.ln); !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("metrics are no longer served", "err", err)
		}
	}()
	d.log.Info("metrics", "address", ln.Addr().String(), "pprof", c.Pprof)
	return nil
}

func (m *metricsServer) close() { m.http.Close() }

func (d *daemonProcess) metricsPage(w http.ResponseWriter, r *http.Request) {
	var t metrics.Text
	s, err := look(r.Context(), d.node, d.server)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	writeMetrics(&t, &s)
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Write(t.Bytes())
}

// onlyLocalNames refuses requests for a host of another name than this port has: a page
// of some other host, whose name somebody made lead here, sends its own.
func onlyLocalNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodeFlags := r.Host
		if h, _, err := net.SplitHostPort(nodeFlags); err == nil {
			nodeFlags = h
		}
		if ip, err := netip.ParseAddr(nodeFlags); nodeFlags != "localhost" && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "this port is for the host itself", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A limitedListener closes connections beyond those there is room for.
type limitedListener struct {
	net.Listener
	room chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			return &limitedConn{Conn: c, room: l.room}, nil
		default:
			c.Close()
		}
	}
}

// A limitedConn gives its room back once, when it is closed.
type limitedConn struct {
	net.Conn
	room <-chan struct{}
	once sync.Once
}

func (c *limitedConn) Close() error {
	c.once.Do(func() { <-c.room })
	return c.Conn.Close()
}
