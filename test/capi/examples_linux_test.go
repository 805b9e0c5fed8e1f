// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
)

// python runs a Python program with the binding of examples/python.
func python(t *testing.T, args ...string) string {
	t.Helper()
	dir := needLibrary(t)
	examples, err := filepath.Abs("../../examples/python")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"UTIPC_LIBRARY=" + filepath.Join(dir, "libutipc.so.0"), "PYTHONPATH=" + examples, "PYTHONDONTWRITEBYTECODE=1"}
	return run(t, env, preload.Python(t), args...)
}

// Python has the same of the library as C: the sizes of its types, messages, connections, groups, names,
// descriptors, errors, the environment as it is now, and the error of a forked child.
//
// Proves: capi.abi, capi.calls
func TestPython(t *testing.T) {
	sizes := run(t, nil, compile(t, sources(t)...), "sizes")
	out := python(t, "testdata/binding.py", strings.TrimSpace(sizes))
	if ran := regexp.MustCompile(`Ran (\d+) tests`).FindStringSubmatch(out); ran == nil || len(ran[1]) < 2 {
		t.Errorf("fewer than ten tests:\n%s", out)
	}
}

// The examples print what they say, in C and in Python alike. The lines of pubsub have no order.
//
// Proves: capi.calls
func TestExamples(t *testing.T) {
	want := map[string][]string{
		"hello":  {"node 1 asks: what time is it?"},
		"pubsub": {"attic: power cut", "cellar: 12 degrees", "cellar: power cut", "the publisher is gone", "the publisher is there"},
		"rpc":    {"a service that nobody has: unreachable", "the sum of 30 squares is 9455"},
	}
	for name, lines := range want {
		for language, out := range map[string]string{
			"C":      run(t, nil, compile(t, "../../examples/c/"+name+".c")),
			"Python": python(t, "../../examples/python/"+name+".py"),
		} {
			got := strings.Split(strings.TrimSpace(out), "\n")
			if slices.Sort(got); !slices.Equal(got, lines) {
				t.Errorf("%s in %s prints %q, want %q", name, language, got, lines)
			}
		}
	}
}
