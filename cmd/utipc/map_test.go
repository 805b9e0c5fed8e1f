// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A cluster of three, as text, SVG and JSON.
//
// Proves: tools.small
func TestMap(t *testing.T) {
	t.Parallel()
	onBoth(t, 3, func(t *testing.T, all []*stack.Node) {
		if _, err := all[1].ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 17}); err != nil {
			t.Fatal(err)
		}
		waitNames(t, all[0], 18888, 1)
		print := func(args ...string) string {
			var m mapper
			var out bytes.Buffer
			if _, err := cmdline.Parse(flagsOf(&m), append(args, "--wait", "1m"), 0, 0); err != nil || m.check() != nil {
				t.Fatal(err)
			}
			if err := m.run(t.Context(), all[0], &out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		var v mapView
		if err := json.Unmarshal([]byte(print("--json")), &v); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprintf("%+v", v.Pairs), "[{A:1001002 B:1001003 Links:1 Both:true a:0 b:0}]"; got != want {
			t.Errorf("pairs: got %s, want %s", got, want)
		}
		if len(v.Links) != 2 || v.Links[0].State != "ACTIVE" || v.Links[0].Priority != 10 || len(v.Nodes) != 3 || v.Nodes[0].Node != "1001001" || v.Nodes[1].Names != 1 || !v.Nodes[2].Told {
			t.Errorf("got %+v", v)
		}
		text := print()
		for _, want := range []string{"[1001001]", " 1001003 ", "╲", "╱", "─", "\n1001002   eth0            ACTIVE    10   30000ms "} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if own := print("--own"); strings.Contains(own, "─") || !strings.Contains(own, "not asked") {
			t.Errorf("own links alone:\n%s", own)
		}
		svg := print("--svg")
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || strings.Count(svg, "<rect") != 3 || strings.Count(svg, `class="link active"`) != 2 || strings.Count(svg, `class="link other"`) != 1 {
			t.Errorf("%v in %s", err, svg)
		}
	})
}

// Many nodes are a table.
func TestMapTable(t *testing.T) {
	v := &mapView{}
	for i := range 17 {
		v.Nodes = append(v.Nodes, mapNode{Node: fmt.Sprint(100 + i), Up: true, Told: i < 2, addr: stack.NodeAddr(i)})
	}
	for i := 1; i < 16; i++ {
		v.Links = append(v.Links, mapLink{State: "ACTIVE", to: stack.NodeAddr(i)})
	}
	v.Links = append(v.Links, mapLink{State: "STANDBY", to: 1}, mapLink{State: "DEFUNCT", to: 16})
	v.Pairs = []mapPair{{Links: 3, a: 1, b: 2}}
	want := `100       \211111111111111.
101       2\3..............
102       13\??????????????
`
	if got := v.table(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s, want it to begin with\n%s", got, want)
	}
	if !strings.HasPrefix(v.text(), want) {
		t.Errorf("17 nodes are drawn:\n%s", v.text())
	}
}

// A link that is down is drawn as one, in the picture, in the text, in the count, and by top.
//
// Mutations it catches: map_svg gives "DOWN" for the class; map.css has no rule for it; the count of links that are up, or
// the line of the text, goes by a state that no link has; linkTable shows it as it shows any other.
//
// Proves: tools.small
func TestMapOfALinkThatIsDown(t *testing.T) {
	down := (&admin.Link{}).State()
	v := &mapView{Self: "1", Nodes: []mapNode{{Node: "1", Up: true, addr: 1}, {Node: "2", addr: 2}}, Links: []mapLink{{To: "2", Bearer: "eth0", State: down, to: 2}}}
	css, err := mapFiles.ReadFile("web/map.css")
	if err != nil {
		t.Fatal(err)
	}
	class := strings.ToLower(down)
	if svg := v.svg(true); !strings.Contains(svg, `class="link `+class+`"`) || !strings.Contains(svg, "."+class+"{stroke:#b3261e") {
		t.Errorf("got %s", svg)
	}
	if !strings.Contains(string(css), "\n."+class+" { stroke: var(--bad)") || !strings.Contains(string(css), "."+down+" .state") {
		t.Errorf("no colour of %s in the style of the page", down)
	}
	if d := newMapData(v); d.LinksDown != 1 || d.NodesDown != 1 || d.LinksUp != 0 {
		t.Errorf("got %+v", d)
	}
	up := *v
	up.Links = []mapLink{{To: "2", Bearer: "eth0", State: "ACTIVE", to: 2}}
	if got := v.text(); got == strings.ReplaceAll(up.text(), "ACTIVE ", down) {
		t.Errorf("the same line for a link that is up and one that is down:\n%s", got)
	}
	top := topView{Links: []topLink{{Peer: "2", State: down}}}
	if got := strings.Join(top.lines(topLayout{ink: true}), "\n"); !strings.Contains(got, "\x1b[31mlinks 0 of 1 up") || !strings.Contains(got, "\x1b[31m"+down) {
		t.Errorf("top shows %q", got)
	}
}

// What other nodes chose cannot become markup.
func TestMapEscapes(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	v := &mapView{Self: "1", Nodes: []mapNode{{Node: evil, Identity: evil, Untold: evil}, {Node: "2", addr: 2}}, Links: []mapLink{{To: evil, Bearer: evil, State: "DEFUNCT", to: 2}}}
	s := &mapServer{changed: make(chan struct{})}
	if err := s.update(v); err != nil {
		t.Fatal(err)
	}
	if _, html, _ := s.now(); strings.Contains(html, "<script") || !strings.Contains(html, "&lt;script") {
		t.Errorf("got %s", html)
	}
}

// mapBed serves the map of a node and returns where.
func mapBed(t *testing.T, n *stack.Node) (url string) {
	t.Helper()
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	m := mapper{serve: "127.0.0.1:0", interval: 50 * time.Millisecond, wait: time.Minute, hosts: []string{"Map.Example"}}
	done := make(chan error, 1)
	go func() {
		err := m.run(ctx, n, w)
		w.CloseWithError(errors.Join(err, io.EOF))
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil || !ok {
		t.Fatalf("got %q, %v", line, err)
	}
	return url
}

// The page, what it is made of, and who may ask for it.
func TestMapServe(t *testing.T) {
	t.Parallel()
	all := liveBed(t, 2)
	url := mapBed(t, all[0])
	ask := func(method, path, nodeFlags string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if nodeFlags != "" {
			r.Host = nodeFlags
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range mapHeaders {
			if resp.Header.Get(k) != v && !(path == "map.svg" && k == "Content-Security-Policy") {
				t.Errorf("%s: %s is %q, want %q", path, k, resp.Header.Get(k), v)
			}
		}
		return resp, string(b)
	}
	for _, c := range []struct {
		method, path, nodeFlags string
		code                    int
		kind, want              string
	}{
		{"GET", "", "", 200, "text/html; charset=utf-8", `<td>1001002<td class="wide">`},
		{"HEAD", "", "", 200, "text/html; charset=utf-8", ""},
		{"GET", "map.js", "", 200, "text/javascript; charset=utf-8", "EventSource"},
		{"GET", "map.css", "", 200, "text/css; charset=utf-8", ".active"},
		{"GET", "map.svg", "", 200, "image/svg+xml", "<svg "},
		{"GET", "map.json", "", 200, "application/json", `"self":"1001001"`},
		{"GET", "map.html", "", 404, "text/plain; charset=utf-8", ""},
		{"GET", "../host.go", "", 404, "text/plain; charset=utf-8", ""},
		{"POST", "", "", 405, "text/plain; charset=utf-8", "only GET"},
		{"GET", "", "evil.example", 421, "text/plain; charset=utf-8", "--host"},
		{"GET", "events", "evil.example:80", 421, "text/plain; charset=utf-8", "--host"},
		{"GET", "map.json", "", 200, "application/json", ""},
		{"GET", "map.json", "localhost:99", 200, "application/json", ""},
		{"GET", "map.json", "[::1]:99", 200, "application/json", ""},
		{"GET", "map.json", "map.example", 200, "application/json", ""},
		{"GET", "map.json", "map.example.evil", 421, "text/plain; charset=utf-8", ""},
	} {
		resp, body := ask(c.method, c.path, c.nodeFlags)
		if resp.StatusCode != c.code || resp.Header.Get("Content-Type") != c.kind || !strings.Contains(body, c.want) {
			t.Errorf("%s /%s of %q: got %d, %q, %q; want %d, %q, %q", c.method, c.path, c.nodeFlags, resp.StatusCode, resp.Header.Get("Content-Type"), body, c.code, c.kind, c.want)
		}
	}
}

// The page is told of what changes; too many viewers are sent away, and those who leave
// make room.
func TestMapFollow(t *testing.T) {
	t.Parallel()
	all := liveBed(t, 2)
	url := mapBed(t, all[0])
	follow := func() (*http.Response, context.CancelFunc) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r, err := http.NewRequestWithContext(ctx, "GET", url+"events", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp, func() { cancel(); resp.Body.Close() }
	}
	resp, leave := follow()
	defer leave()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var html string
			if ok && json.Unmarshal([]byte(data), &html) == nil && strings.Contains(html, want) {
				return
			}
		}
		t.Fatalf("no map with %q: %v", want, lines.Err())
	}
	next(`<td class="state">up<td class="n">0<td>in the picture`)
	if _, err := all[1].ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 17}); err != nil {
		t.Fatal(err)
	}
	next(`<td class="state">up<td class="n">1<td>in the picture`)
	var leaves []context.CancelFunc
	for range mostViewers - 1 {
		resp, leave := follow()
		if leaves = append(leaves, leave); resp.StatusCode != 200 {
			t.Fatalf("viewer: got %s", resp.Status)
		}
	}
	if resp, leave := follow(); resp.StatusCode != 503 {
		t.Errorf("one viewer more: got %s", resp.Status)
	} else {
		leave()
	}
	for _, leave := range leaves {
		leave()
	}
	for end := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		resp, leave := follow()
		leave()
		if resp.StatusCode == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("those who left make no room")
		}
	}
}

func TestMapMisuse(t *testing.T) {
	attachTo(t, liveBed(t, 1)[0], nil)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--svg", "--json"}, "do not go together"},
		{[]string{"--public"}, "go with --serve"},
		{[]string{"--serve", "127.0.0.1:0", "--json"}, "/map.json"},
		{[]string{"--interval", "1ms"}, "--interval"},
		{[]string{"--serve", "0.0.0.0:0"}, "--public lets others"},
		{[]string{"--serve", ":0"}, "--public lets others"},
		{[]string{"--serve", "[::]:0"}, "--public lets others"},
		{[]string{"--serve", "example.org:0"}, "--public lets others"},
		{[]string{"--serve", "127.0.0.1"}, "is not ADDRESS:PORT"},
	} {
		if c.args[0] == "--serve" { // each ends its node
			attachTo(t, liveBed(t, 1)[0], nil)
		}
		if _, errs, code := utipc(nil, append([]string{"map"}, c.args...)...); code != cmdline.Misuse || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", c.args, code, errs, cmdline.Misuse, c.want)
		}
	}
}
