// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// programTypes are what a program holds of package stack; each has a backend.
var programTypes = []string{"Node", "Conn", "PacketConn", "Group", "Listener", "Subscription", "ActivePort"}

// backendName matches identifiers that are about one of the two backends.
var backendName = regexp.MustCompile(`^(local|remote)[A-Z]|^far$`)

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

// What a program holds does not know which backend it has. Mutations: a method of Conn that
// asks c.b.(*localConn); a field of Node of type *remoteNode; a type switch on the backend of
// a Group in a function of its file.
func TestPublicTypesKnowNoBackend(t *testing.T) {
	fset := token.NewFileSet()
	found := map[string]bool{}
	for _, file := range sources(t, "stack") {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				if slices.Contains(programTypes, receiver(d)) {
					noBackend(t, fset, d, "a method of "+receiver(d))
				}
				continue
			}
			for _, s := range g.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && slices.Contains(programTypes, s.Name.Name) {
					found[s.Name.Name] = hasBackend(s)
					noBackend(t, fset, s, "type "+s.Name.Name)
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.TypeAssertExpr); ok {
				if s, ok := a.X.(*ast.SelectorExpr); ok && s.Sel.Name == "b" {
					t.Errorf("%v: a backend is asked for its type", fset.Position(a.Pos()))
				}
			}
			return true
		})
	}
	for _, name := range programTypes {
		if !found[name] {
			t.Errorf("stack.%s has no field b of an interface …Backend", name)
		}
	}
}

// hasBackend reports whether a type is a struct whose field b is a backend.
func hasBackend(s *ast.TypeSpec) bool {
	x, ok := s.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(x.Fields.List, func(f *ast.Field) bool {
		id, ok := f.Type.(*ast.Ident)
		return ok && len(f.Names) == 1 && f.Names[0].Name == "b" && strings.HasSuffix(id.Name, "Backend")
	})
}

func noBackend(t *testing.T, fset *token.FileSet, n ast.Node, what string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && backendName.MatchString(id.Name) {
			t.Errorf("%v: %s has %s in it", fset.Position(id.Pos()), what, id.Name)
		}
		return true
	})
}

// Reads of both backends do not keep the buffer that they fill, which stack's filled relies on:
// the compiler is asked of each. Mutation: localPacket.Read, or remoteConn.TryReadMsg, that
// stores b in its receiver.
func TestReadsKeepNoBuffer(t *testing.T) {
	fset := token.NewFileSet()
	where := map[string]string{} // position of a parameter, and whose it is
	for _, file := range sources(t, "stack") {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			of := receiver(d)
			if !strings.HasPrefix(of, "local") && !strings.HasPrefix(of, "remote") {
				continue
			}
			fill := map[string]string{"Read": "b", "TryReadMsg": "b", "Call": "resp", "ReadBatch": "ms", "WriteBatch": "ms"}[d.(*ast.FuncDecl).Name.Name]
			for _, p := range d.(*ast.FuncDecl).Type.Params.List {
				for _, name := range p.Names {
					if name.Name == fill {
						at := fset.Position(name.Pos())
						where[fmt.Sprintf("stack/%s:%d:%d", filepath.Base(at.Filename), at.Line, at.Column)] = of + "." + d.(*ast.FuncDecl).Name.Name
					}
				}
			}
		}
	}
	if len(where) != 18 {
		t.Errorf("%d methods fill what they are given, want 18: %v", len(where), where)
	}
	cmd := exec.Command("go", "build", "-gcflags=-m", "./stack")
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
