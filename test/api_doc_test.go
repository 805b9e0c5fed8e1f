// SPDX-License-Identifier: Apache-2.0

package test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/reference/api.md names nothing of packages stack and stack/admin that is not there, and leaves out
// no method of a Node or an Admin and no kind of error.
//
// Proves: house.docs
func TestAPIIsWhole(t *testing.T) {
	text := texts(t)["docs/reference/api.md"]
	have := map[string]bool{}
	files, err := filepath.Glob("../stack/*.go")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files of package stack, %v", len(files), err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		for name := range declarations(t, f) {
			have[name] = true
		}
	}
	managing, err := filepath.Glob("../stack/admin/*.go")
	if err != nil || len(managing) < 5 {
		t.Fatalf("%d files of package stack/admin, %v", len(managing), err)
	}
	values, err := filepath.Glob("../stack/socket/*.go")
	if err != nil || len(values) < 5 {
		t.Fatalf("%d files of package stack/socket, %v", len(values), err)
	}
	managing = append(managing, values...)
	for _, f := range managing {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		for name := range declarations(t, f) {
			have[name] = true
		}
	}
	named := map[string]bool{}
	ours := regexp.MustCompile("`[*]?((?:stack|admin)[.][A-Z]\\w*|(?:Node|Admin|Conn|PacketConn|Group|Listener|Subscription|ActivePort|Reply|Poller|\\w*Config)[.][A-Z]\\w*)")
	for _, m := range ours.FindAllStringSubmatch(text, -1) {
		name := strings.TrimPrefix(strings.TrimPrefix(m[1], "stack."), "admin.")
		named[name] = true
		// A field of a configuration is no declaration.
		if kind, _, _ := strings.Cut(name, "."); !have[name] && !(strings.HasSuffix(kind, "Config") && have[kind]) {
			t.Errorf("there is no %s", m[1])
		}
	}
	for name := range have {
		of, method, _ := strings.Cut(name, ".")
		if (of == "Node" || of == "Admin") && upper(method) && !named[name] {
			t.Errorf("docs/reference/api.md does not name %s", name)
		}
		kind := strings.HasSuffix(name, "Error") || strings.HasPrefix(name, "Err")
		if kind && upper(name) && !strings.Contains(name, ".") && !named[name] && !notErrors[name] {
			t.Errorf("docs/reference/api.md does not name %s", name)
		}
	}
	if len(named) < 100 {
		t.Errorf("found %d names", len(named))
	}
}

// notErrors are names like those of errors that are none (methods, a number, functions),
// and errors that a caller meets only inside of others, or who writes a daemon.
var notErrors = map[string]bool{
	"Err": true, "Error": true, "Errno": true, "ErrorCode": true, "ErrTopology": true,
}

func upper(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }
