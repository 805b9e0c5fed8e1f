// SPDX-License-Identifier: Apache-2.0

// Package test holds what spans folders; this file checks the layout itself.
package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

const module = "github.com/utipc/utipc/"

// imports says which packages of ours each may import; "..." covers what is below.
var imports = map[string][]string{
	"attach":                   {"frame", "internal/callfault", "internal/printable", "internal/sock"},
	"capi":                     {"capi/internal/calls", "capi/internal/embedded", "internal/tcpwire", "stack", "xdp"},
	"capi/internal/calls":      {"stack"},
	"capi/internal/embedded":   {"internal/macvlan", "internal/tcpwire", "stack"},
	"daemon":                   {"attach", "daemon/plain", "frame", "internal/control", "internal/hosting", "netdev", "stack", "stack/admin"},
	"daemon/bearers":           {"frame"},
	"daemon/genetlink":         {"flowctl", "internal/control", "internal/netlink", "internal/printable", "internal/tipcshow", "monitor", "seal", "stack", "stack/admin"},
	"daemon/plain":             {"attach", "daemon/genetlink", "frame", "internal/hosting", "internal/sock", "internal/tcpwire", "stack", "stack/admin"},
	"frame":                    {},
	"frame/conversation":       {"frame"},
	"frame/describe":           {"frame"},
	"frame/dissect":            {"frame", "frame/describe"},
	"frame/layers":             {"frame"},
	"frame/lint":               {"frame", "frame/dissect"},
	"frame/internal/samples":   {"frame", "frame/layers"},
	"flowctl":                  {"frame", "netdev"},
	"internal/printable":       {},
	"internal/testhook":        {},
	"monitor":                  {"frame"},
	"naming":                   {"frame"},
	"netdev":                   {"frame"},
	"seal":                     {"frame"},
	"stack/engine":             {"frame", "netdev", "flowctl", "monitor", "naming", "seal"},
	"stack":                    {"frame", "naming", "netdev", "seal", "stack/admin", "stack/carrier/hub", "stack/carrier/udp", "stack/engine", "stack/internal/backend", "stack/internal/goroutine", "stack/internal/local", "stack/internal/remote", "stack/socket", "internal/control", "internal/hosting"},
	"stack/socket":             {"frame", "flowctl", "naming", "seal", "stack/admin", "stack/engine", "internal/control", "internal/printable"},
	"stack/internal/backend":   {"frame", "naming", "netdev", "stack/admin", "stack/engine", "stack/socket", "internal/control", "internal/hosting"},
	"stack/internal/feed":      {"frame", "stack/admin", "stack/engine"},
	"stack/internal/local":     {"frame", "flowctl", "naming", "netdev", "stack/admin", "stack/engine", "stack/internal/backend", "stack/internal/feed", "stack/internal/goroutine", "stack/internal/poll", "stack/socket", "internal/control", "internal/hosting", "internal/testhook"},
	"stack/internal/remote":    {"attach", "frame", "naming", "netdev", "stack/admin", "stack/engine", "stack/internal/backend", "stack/internal/feed", "stack/internal/goroutine", "stack/socket", "internal/control", "internal/hosting", "internal/printable"},
	"stack/internal/goroutine": {},
	"stack/internal/poll":      {"netdev", "stack/engine", "stack/internal/goroutine"},
	"stacktest":                {"frame", "internal/testhook", "netdev", "stack", "stack/carrier/hub"},
	"stacktest/replay":         {"flowctl", "frame", "frame/dissect", "frame/layers", "internal/arenapool", "netdev", "seal", "stack/engine"},
	"stack/admin":              {"frame", "netdev", "flowctl", "monitor", "naming", "seal", "stack/engine", "internal/control", "internal/printable"},
	"stack/carrier/hub":        {"frame", "netdev"},
	"stack/carrier/fault":      {"frame", "netdev"},
	"stack/carrier/tap":        {"frame", "netdev"},
	"stack/carrier/udp":        {"frame", "netdev"},
	"xdp":                      {"frame", "netdev", "internal/netlink", "internal/printable"},
}

// modules says which other modules each may draw in, directly or not.
var modules = map[string][]string{
	"attach":                   {"golang.org/x/sys"},
	"capi":                     {"golang.org/x/sys", "golang.org/x/net", "github.com/cilium/ebpf"}, // xdp's
	"capi/internal/calls":      {"golang.org/x/sys"},
	"capi/internal/embedded":   {"golang.org/x/sys"},
	"daemon":                   {"golang.org/x/sys"},
	"daemon/bearers":           {},
	"daemon/genetlink":         {"golang.org/x/sys"},
	"daemon/plain":             {"golang.org/x/sys"},
	"frame":                    {},
	"frame/conversation":       {},
	"frame/describe":           {},
	"frame/dissect":            {},
	"frame/lint":               {},
	"frame/layers":             {"github.com/google/gopacket", "golang.org/x/net", "golang.org/x/sys"}, // gopacket's own
	"flowctl":                  {},
	"naming":                   {},
	"netdev":                   {},
	"monitor":                  {},
	"seal":                     {},
	"stack/engine":             {},
	"stack":                    {"golang.org/x/sys"},
	"stack/internal/backend":   {},
	"stack/internal/feed":      {},
	"stack/internal/goroutine": {},
	"stack/internal/local":     {"golang.org/x/sys"},
	"stack/internal/poll":      {"golang.org/x/sys"},
	"stack/internal/remote":    {"golang.org/x/sys"},
	"stack/socket":             {},
	"stack/admin":              {},
	"stacktest":                {"golang.org/x/sys"},
	"stacktest/replay":         {"github.com/google/gopacket", "golang.org/x/net", "golang.org/x/sys"}, // frame/layers's
	"stack/carrier/hub":        {},
	"stack/carrier/fault":      {},
	"stack/carrier/tap":        {},
	"stack/carrier/udp":        {"golang.org/x/sys"},
	"xdp":                      {"golang.org/x/sys", "golang.org/x/net", "github.com/cilium/ebpf"},
}

// A listed is a package as go list prints it, of this module or among what one of it needs.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	DepOnly                            bool // not of this module
	Module                             *struct {
		Path string
		Main bool
	}
}

// everyPackage asks go list once for all that tests ask of it: to ask for each package took
// most of this folder's time.
var everyPackage = sync.OnceValues(func() (map[string]*listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,TestImports,XTestImports,DepOnly,Module", "./...")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // capi is listed without a C compiler too
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[string]*listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := d.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
	}
})

// packages are all packages of this module and what they need, by import path.
func packages(t *testing.T) map[string]*listed {
	t.Helper()
	all, err := everyPackage()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// named is the package of this module with this path below the module's.
func named(t *testing.T, all map[string]*listed, pkg string) *listed {
	t.Helper()
	p := all[module+pkg]
	if p == nil {
		t.Fatalf("there is no package %s", pkg)
	}
	return p
}

// needs adds to found the package itself and what it imports, directly or not.
func needs(all map[string]*listed, p *listed, found map[string]*listed) {
	if p == nil || found[p.ImportPath] != nil {
		return
	}
	found[p.ImportPath] = p
	for _, im := range p.Imports {
		needs(all, all[im], found)
	}
}

// Proves: house.layout
func TestWhoImportsWhom(t *testing.T) {
	all := packages(t)
	for pkg, allowed := range imports {
		for _, im := range named(t, all, pkg).Imports {
			if own, ok := strings.CutPrefix(im, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s; allowed: %v", pkg, own, allowed)
			}
		}
	}
	for path := range all {
		own, ours := strings.CutPrefix(path, module)
		root, _, _ := strings.Cut(own, "/")
		if ours && imports[own] == nil && slices.Contains([]string{"attach", "capi", "daemon", "frame", "flowctl", "monitor", "naming", "netdev", "seal", "stack", "stacktest", "xdp"}, root) {
			t.Errorf("%s has no line in the table of imports", own)
		}
	}
}

// Proves: house.layout
func TestWhoDrawsInWhichModule(t *testing.T) {
	all := packages(t)
	for pkg, allowed := range modules {
		found := map[string]*listed{}
		needs(all, named(t, all, pkg), found)
		drawn := map[string]bool{}
		for _, p := range found {
			if m := p.Module; m != nil && !m.Main && !slices.Contains(allowed, m.Path) && !drawn[m.Path] {
				drawn[m.Path] = true
				t.Errorf("%s draws in %s; allowed: %v", pkg, m.Path, allowed)
			}
		}
	}
}

// What the package installs is free of what tests and measures it.
//
// Mutation it catches: a command of cmd/utipc imports test/netns.
//
// Proves: house.layout
func TestInstalledProgramLinksNoTests(t *testing.T) {
	all, found := packages(t), map[string]*listed{}
	needs(all, named(t, all, "cmd/utipc"), found)
	if found[module+"stack"] == nil {
		t.Fatalf("got %d packages without stack", len(found))
	}
	for pkg := range found {
		own, _ := strings.CutPrefix(pkg, module)
		if strings.HasPrefix(own, "test/") || own == "internal/kernels" || strings.HasPrefix(own, "internal/kernels/") {
			t.Errorf("cmd/utipc links %s: that belongs into cmd/utipc-lab", own)
		}
	}
}

// What reads packets in general stays behind frame/layers, tests included.
func TestWhoImportsGopacket(t *testing.T) {
	users := 0
	for path, p := range packages(t) {
		if p.DepOnly || !slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(im string) bool { return strings.HasPrefix(im, "github.com/google/gopacket") }) {
			continue
		}
		if users++; path != module+"frame/layers" {
			t.Errorf("%s imports gopacket; only frame/layers may", path)
		}
	}
	if users == 0 {
		t.Error("frame/layers does not import gopacket")
	}
}

// sources yields the Go files below the given folders, tests left out.
func sources(t *testing.T, folders ...string) (files []string) {
	for _, dir := range folders {
		found, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !strings.HasSuffix(f, "_test.go") {
				files = append(files, f)
			}
		}
	}
	return files
}

// The core is a machine without a world: no clock, no chance of its own, no
// goroutine, no I/O.
//
// Proves: house.layout
func TestCoreIsDeterministic(t *testing.T) {
	forbidden := map[string]string{
		"time.Now": "time comes as an argument", "time.Since": "time comes as an argument",
		"time.Until": "time comes as an argument", "time.Sleep": "the core does not wait",
		"time.After": "the core does not wait", "time.NewTimer": "the core does not wait",
		"time.AfterFunc": "the core does not wait", "time.Tick": "the core does not wait",
	}
	worlds := map[string]string{
		"os": "no I/O", "net": "no I/O", "io": "no I/O", "log": "the core does not log",
		"log/slog": "the core does not log", "crypto/rand": "chance comes as an argument", "sync": "the core has no lock",
	}
	fset := token.NewFileSet()
	for _, file := range sources(t, "frame", "frame/conversation", "frame/describe", "frame/dissect", "frame/lint", "netdev", "flowctl", "monitor", "naming", "seal", "stack/engine", "daemon/bearers") {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range f.Imports {
			path := strings.Trim(im.Path.Value, `"`)
			// net is allowed in frame for the interface net.Addr alone; chance.go
			// holds the seeded generator that an owner makes.
			if why := worlds[path]; why != "" && !(path == "net" && filepath.Base(file) == "addr.go") {
				t.Errorf("%s imports %s: %s", file, path, why)
			}
			if strings.HasPrefix(path, "math/rand") && filepath.Base(file) != "chance.go" {
				t.Errorf("%s imports %s: chance comes as an argument", file, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%v: the core starts no goroutine", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if why := forbidden[x.Name+"."+n.Sel.Name]; why != "" {
						t.Errorf("%v: %s.%s: %s", fset.Position(n.Pos()), x.Name, n.Sel.Name, why)
					}
				}
			}
			return true
		})
	}
}

// xdp knows bytes and Buffers; no TIPC header is read there.
//
// Proves: house.layout
func TestDriversReadNoHeader(t *testing.T) {
	allowed := []string{"MAC", "EtherType", "EthernetLen", "BroadcastMAC", "MinMTU"}
	fset := token.NewFileSet()
	for _, file := range sources(t, "xdp") {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "frame" && !slices.Contains(allowed, s.Sel.Name) {
					t.Errorf("%v: xdp uses frame.%s", fset.Position(n.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}

// Proves: house.layout
func TestEveryFile(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "..").Output()
	if err != nil {
		tier.Missing(t, "not a git checkout:", err)
	}
	for _, file := range strings.Fields(string(out)) {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // deleted in the working tree
		}
		head := string(b[:min(len(b), 300)])
		switch filepath.Ext(file) {
		case ".go":
			if g, err := format.Source(b); err != nil || string(g) != string(b) {
				t.Errorf("%s is not gofmt-ed", file)
			}
			if strings.HasPrefix(head, "// Code generated") {
				continue
			}
			fallthrough
		case ".sh":
			if !strings.Contains(head, "SPDX-License-Identifier: Apache-2.0") {
				t.Errorf("%s has no SPDX line on top", file)
			}
		}
		if strings.HasSuffix(file, "_test.go") && filepath.Base(file) != "layout_test.go" && strings.Contains(string(b), "time.Sleep(") {
			t.Errorf("%s sleeps: wait for an event instead", file)
		}
	}
}
