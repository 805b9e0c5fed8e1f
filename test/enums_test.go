// SPDX-License-Identifier: Apache-2.0

package test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each exported type of whole numbers has a String, as packages stack and stack/admin name
// it: a Kind is not to be printed as 3.
//
// Mutation it catches: the String of a GroupKind, or of a SlowPolicy, is not there.
func TestEnumsHaveStrings(t *testing.T) {
	const module = "github.com/utipc/utipc/"
	folders := []string{"stack", "stack/admin"}
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, f := range folders {
		args = append(args, "./"+f)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	found := 0
	for _, f := range folders {
		pkg, err := imports.Import(module + f)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			x, isType := pkg.Scope().Lookup(name).(*types.TypeName)
			if !isType || !x.Exported() {
				continue
			}
			basic, isBasic := x.Type().Underlying().(*types.Basic)
			if !isBasic || basic.Info()&types.IsInteger == 0 {
				continue
			}
			found++
			if m, _, _ := types.LookupFieldOrMethod(x.Type(), false, pkg, "String"); m == nil {
				t.Errorf("%s.%s has no String", f, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d types of whole numbers were found", found)
	}
}
