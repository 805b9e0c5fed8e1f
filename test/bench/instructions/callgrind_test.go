// SPDX-License-Identifier: Apache-2.0

package instructions

import (
	"maps"
	"strings"
	"testing"
)

// Mutations it catches: the line after calls= counts for the caller; a name is looked up where it
// is a callee's; the brackets of a generic function are read as its path.
func TestReadProfile(t *testing.T) {
	const file = `# callgrind format
version: 1
positions: line
events: Ir
summary: 1000

fl=(1) a.go
fn=(1) github.com/utipc/utipc/stack.(*Conn).Read
10 5
+2 7
cfn=(2) github.com/utipc/utipc/stack/engine.(*ring[github.com/utipc/utipc/frame.Range]).push
calls=3 20
* 600
* 1

fn=(2)
20 11
fn=(3) memcpy
7 2
fn=(4) runtime.mallocgc
7 30
`
	got, err := readProfile(strings.NewReader(file))
	want := profile{"stack": 13, "stack/engine": 11, "C": 2, "runtime": 30}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"fn=runtime.main\n", "fn=(1) a.b\n10 many\n"} {
		if p, err := readProfile(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}
