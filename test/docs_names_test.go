// SPDX-License-Identifier: Apache-2.0

package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"testing"
)

var (
	codeNames = regexp.MustCompile("`([a-z][a-zA-Z0-9_/]*\\.go)` \\(((?:`[A-Za-z0-9_.]+`(?:,\\s)?)+)\\)")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// What documentation says to be in a file of Go, as in `stack/poll.go` (`poll`), is
// declared there.
//
// Proves: house.docs
func TestDocumentationNames(t *testing.T) {
	declared := map[string]map[string]bool{}
	names := 0
	for name, text := range texts(t) {
		for _, m := range codeNames.FindAllStringSubmatch(text, -1) {
			if declared[m[1]] == nil {
				declared[m[1]] = declarations(t, "../"+m[1])
			}
			for _, n := range quoted.FindAllStringSubmatch(m[2], -1) {
				names++
				if !declared[m[1]][n[1]] {
					t.Errorf("%s: %s declares no %s", name, m[1], n[1])
				}
			}
		}
	}
	if names < 100 {
		t.Errorf("found %d names", names)
	}
}

// declarations are the names that a file of Go declares; a method is there by its name,
// and as Type.Method.
func declarations(t *testing.T, path string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return found
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			found[d.Name.Name] = true
			if d.Recv != nil {
				r := d.Recv.List[0].Type
				if p, ok := r.(*ast.StarExpr); ok {
					r = p.X
				}
				if id, ok := r.(*ast.Ident); ok {
					found[id.Name+"."+d.Name.Name] = true
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					found[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						found[n.Name] = true
					}
				}
			}
		}
	}
	return found
}
