// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// programTypes are what a program holds of package stack, and the interface of package backend
// behind each; an ActivePort is a Packet's.
var programTypes = map[string]string{
	"Node": "Node", "Conn": "Conn", "PacketConn": "Packet", "Group": "Group", "Listener": "Listener",
	"Subscription": "Subscription", "Poller": "Poller",
}

// makers are the only functions of package stack that name a backend: they make a Node with it.
var makers = map[string]string{"local": "Open", "remote": "Attach"}

// receiver is the name of the type that a method is of, or empty.
func receiver(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// What a program holds does not know which backend it has: it has an interface, and only what
// makes a Node names a package of a backend. No branch of package stack is on a backend: there are
// no assertion, no type switch and no comparison of a value whose type is an interface of package
// backend. (The type switch of hosting.go is on the types that programs hold.)
//
// Mutations it catches: a method of Conn that asks c.b.(*local.Conn); a field of Node of type
// *remote.Node; in functions of group.go, a switch on any(b).(type) where b was g.b, and g.b == nil.
//
// Proves: house.layout
func TestPublicTypesKnowNoBackend(t *testing.T) {
	fset := token.NewFileSet()
	found := map[string]bool{}
	files, info := checked(t, fset, "stack")
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				namesNoBackend(t, fset, d, fn.Name.Name)
				continue
			}
			namesNoBackend(t, fset, d, "")
			for _, s := range d.(*ast.GenDecl).Specs {
				if s, ok := s.(*ast.TypeSpec); ok && programTypes[s.Name.Name] != "" {
					found[s.Name.Name] = hasBackend(s, programTypes[s.Name.Name])
				}
			}
		}
		for _, b := range branches(f, info) {
			t.Errorf("%v: a branch on a backend", fset.Position(b.Pos()))
		}
	}
	for name := range programTypes {
		if !found[name] {
			t.Errorf("stack.%s has no field b of type backend.%s", name, programTypes[name])
		}
	}
}

// checked parses a folder's package as it is built here, and finds the types of its expressions.
func checked(t *testing.T, fset *token.FileSet, folder string) ([]*ast.File, *types.Info) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}} {{.GoFiles}}", "./"+folder)
	cmd.Dir = ".."
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var path, names string
	for line := range strings.Lines(string(out)) { // the package itself comes last
		var export string
		path, export, _ = strings.Cut(strings.TrimSpace(line), " ")
		export, names, _ = strings.Cut(export, " ")
		exports[path] = export
	}
	var files []*ast.File
	for _, name := range strings.Fields(strings.Trim(names, "[]")) {
		f, err := parser.ParseFile(fset, filepath.Join("..", folder, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	c := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	if _, err := c.Check(path, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return files, info
}

// branches finds the assertions, type switches and comparisons of backends.
func branches(f *ast.File, info *types.Info) (found []ast.Node) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if isBackend(n.X, info) {
				found = append(found, n)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isBackend(n.X, info) || isBackend(n.Y, info)) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// isBackend reports whether an expression is of an interface of package backend, or is
// converted from one.
func isBackend(x ast.Expr, info *types.Info) bool {
	x = ast.Unparen(x)
	if c, ok := x.(*ast.CallExpr); ok && info.Types[c.Fun].IsType() {
		return isBackend(c.Args[0], info)
	}
	named, ok := types.Unalias(info.TypeOf(x)).(*types.Named)
	return ok && types.IsInterface(named) && named.Obj().Pkg() != nil && named.Obj().Pkg().Name() == "backend"
}

// hasBackend reports whether a type is a struct whose field b is that interface of package backend.
func hasBackend(s *ast.TypeSpec, of string) bool {
	x, ok := s.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(x.Fields.List, func(f *ast.Field) bool {
		sel, ok := f.Type.(*ast.SelectorExpr)
		if !ok || len(f.Names) != 1 || f.Names[0].Name != "b" || sel.Sel.Name != of {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && pkg.Name == "backend"
	})
}

// namesNoBackend checks that a declaration, in a function if that has a name, names no package of
// a backend, unless it is that which makes a Node.
func namesNoBackend(t *testing.T, fset *token.FileSet, d ast.Decl, function string) {
	ast.Inspect(d, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && makers[x.Name] != "" && makers[x.Name] != function {
			t.Errorf("%v: %s.%s is named outside of %s", fset.Position(s.Pos()), x.Name, s.Sel.Name, makers[x.Name])
		}
		return true
	})
}

// Reads of both backends do not keep the buffer that they fill, which stack's filled relies on:
// the compiler is asked of each. Mutation: local.Packet.Read, or remote.Conn.TryReadMsg, that
// stores b in its receiver.
func TestReadsKeepNoBuffer(t *testing.T) {
	tier.SkipShort(t, "a build of both backends with the compiler's reasons")
	fset := token.NewFileSet()
	where := map[string]string{} // position of a parameter, and whose it is
	for _, file := range sources(t, "stack/internal/local", "stack/internal/remote") {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			of := receiver(d)
			if of == "" {
				continue
			}
			fill := map[string]string{"Read": "b", "TryReadMsg": "b", "Call": "resp", "ReadBatch": "ms", "WriteBatch": "ms", "Wait": "ready", "Take": "ready"}[d.(*ast.FuncDecl).Name.Name]
			for _, p := range d.(*ast.FuncDecl).Type.Params.List {
				for _, name := range p.Names {
					if name.Name == fill {
						at := fset.Position(name.Pos())
						where[fmt.Sprintf("%s:%d:%d", strings.TrimPrefix(filepath.ToSlash(at.Filename), "../"), at.Line, at.Column)] = of + "." + d.(*ast.FuncDecl).Name.Name
					}
				}
			}
		}
	}
	if len(where) != 20 {
		t.Errorf("%d methods fill what they are given, want 20: %v", len(where), where)
	}
	cmd := exec.Command("go", "build", "-gcflags=-m", "./stack/internal/local", "./stack/internal/remote")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		i := strings.Index(line, ": ")
		if i < 0 || where[line[:i]] == "" {
			continue
		}
		switch what := line[i+2:]; {
		case strings.HasSuffix(what, "does not escape"):
			delete(where, line[:i])
		case what == "leaking param content: ms": // Data and Addr of messages, see lentBatch
			delete(where, line[:i])
		default:
			t.Errorf("%s: %s", where[line[:i]], line)
		}
	}
	for at, whose := range where {
		t.Errorf("the compiler says nothing of %s, %s", whose, at)
	}
}
