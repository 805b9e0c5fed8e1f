// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

//go:embed web/map.html web/map.css web/map.js
var mapFiles embed.FS

var mapPage = template.Must(template.ParseFS(mapFiles, "web/map.html"))

// Limits of the page's server.
const (
	mostViewers = 32               // that follow the map at a time
	viewerWrite = 10 * time.Second // that one may take to read what is sent to it
	viewerIdle  = 15 * time.Second // after which one is sent an empty line
)

// A mapServer gives the map to those who look at it.
type mapServer struct {
	hosts []string // names that it may be asked for by

	mu      sync.Mutex // guards what follows
	view    *mapView
	html    string
	changed chan struct{} // closed when html does
	viewers int
}

// serveMap serves the page until ctx is done, or the node has ended by itself, which is an
// error.
func (m *mapper) serveMap(ctx context.Context, n *stack.Node, out io.Writer) error {
	l, err := m.listen(ctx)
	if err != nil {
		return err
	}
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newAsker(n)
	defer a.close()
	if !m.own {
		a.settle(ctx, m.wait)
	}
	s := &mapServer{hosts: m.hosts, changed: make(chan struct{})}
	v, err := a.view()
	if err == nil {
		err = s.update(v)
	}
	if err != nil {
		l.Close()
		return err
	}
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		tick := time.NewTicker(m.interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.Done():
				cancel()
				return
			case <-tick.C:
				if !m.own {
					a.look()
				}
				if v, err := a.view(); err == nil { // else the last one stays
					s.update(v)
				}
			}
		}
	})
	server := &http.Server{
		Handler: s, BaseContext: func(net.Listener) context.Context { return ctx }, // so that viewers end with ctx
		ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	defer context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(last) != nil {
			server.Close()
		}
	})()
	fmt.Fprintf(out, "map: node %v at http://%s/\n", n.Addr(), l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if asked.Err() == nil {
		return n.Err()
	}
	return nil
}

// listen listens for --serve, on this host alone unless --public is given.
func (m *mapper) listen(ctx context.Context) (net.Listener, error) {
	nodeFlags, _, err := net.SplitHostPort(m.serve)
	if err != nil {
		return nil, cmdline.UsageError(fmt.Sprintf("--serve %q is not ADDRESS:PORT", m.serve))
	}
	ip, err := netip.ParseAddr(nodeFlags)
	if local := nodeFlags == "localhost" || err == nil && ip.IsLoopback(); !local && !m.public {
		return nil, cmdline.UsageError(fmt.Sprintf("--serve %q is not an address of this host alone; --public lets others read the map", m.serve))
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", m.serve)
}

// update takes a new view.
func (s *mapServer) update(v *mapView) error {
	var b bytes.Buffer
	if err := mapPage.ExecuteTemplate(&b, "map", newMapData(v)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view = v; s.html != b.String() {
		s.html = b.String()
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return nil
}

// mapData is what the page is made of. The picture is markup already: svg has escaped
// all that others chose.
type mapData struct {
	*mapView
	Picture template.HTML

	NodesUp, NodesDown, LinksUp, LinksDown, Names int
}

func newMapData(v *mapView) mapData {
	d := mapData{mapView: v, Picture: template.HTML(v.svg(false))}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Up {
			d.NodesUp++
			d.Names += n.Names
		}
	}
	for i := range v.Links {
		if v.Links[i].State != "DEFUNCT" {
			d.LinksUp++
		}
	}
	d.NodesDown, d.LinksDown = len(v.Nodes)-d.NodesUp, len(v.Links)-d.LinksUp
	return d
}

// now is the view, as HTML too, and what tells of the next.
func (s *mapServer) now() (v *mapView, html string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view, s.html, s.changed
}

// mapHeaders are in every answer: nothing from elsewhere is loaded or run, nobody else may
// show or read the page, and nothing is kept.
var mapHeaders = map[string]string{
	"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cache-Control":                "no-store",
}

func (s *mapServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for k, v := range mapHeaders {
		w.Header().Set(k, v)
	}
	if !s.mayAsk(r.Host) {
		http.Error(w, "this page answers to IP addresses, localhost and what --host names", http.StatusMisdirectedRequest)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	v, _, _ := s.now()
	switch r.URL.Path {
	case "/":
		var b bytes.Buffer
		if err := mapPage.Execute(&b, newMapData(v)); err != nil {
			http.Error(w, "the page cannot be made", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(b.Bytes())
	case "/map.css", "/map.js":
		http.ServeFileFS(w, r, mapFiles, "web"+r.URL.Path)
	case "/map.svg":
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "image/svg+xml")
		io.WriteString(w, v.svg(true))
	case "/map.json":
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	case "/events":
		s.follow(w, r)
	default:
		http.NotFound(w, r)
	}
}

// mayAsk reports whether a request may name this host. A page of another site whose name
// is made to lead here (DNS rebinding) names that site.
func (s *mapServer) mayAsk(nodeFlags string) bool {
	if h, _, err := net.SplitHostPort(nodeFlags); err == nil {
		nodeFlags = h
	}
	nodeFlags = strings.TrimSuffix(strings.TrimPrefix(nodeFlags, "["), "]")
	if _, err := netip.ParseAddr(nodeFlags); err == nil {
		return true
	}
	same := func(name string) bool { return strings.EqualFold(name, nodeFlags) }
	return same("localhost") || slices.ContainsFunc(s.hosts, same)
}

// follow sends the map whenever it has changed, as server-sent events.
func (s *mapServer) follow(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	full := s.viewers >= mostViewers
	if !full {
		s.viewers++
	}
	s.mu.Unlock()
	if full {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer func() {
		s.mu.Lock()
		s.viewers--
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	idle := time.NewTicker(viewerIdle)
	defer idle.Stop()
	for last := ""; ; {
		_, html, changed := s.now()
		event := ":\n\n"
		if html != last {
			data, err := json.Marshal(html) // one line
			if err != nil {
				return
			}
			event, last = fmt.Sprintf("event: map\ndata: %s\n\n", data), html
		}
		c.SetWriteDeadline(time.Now().Add(viewerWrite))
		if _, err := io.WriteString(w, event); err != nil || c.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-idle.C:
		case <-r.Context().Done():
			return
		}
	}
}
