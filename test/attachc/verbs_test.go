// SPDX-License-Identifier: Apache-2.0

package attachc

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack"
)

var update = flag.Bool("update", false, "write the list of verbs to docs/attach.md")

// The list of verbs in docs/attach.md is that of the code.
func TestVerbsOfTheDocumentation(t *testing.T) {
	const file, begin, end = "../../docs/attach.md", "<!-- begin verbs -->\n", "<!-- end verbs -->"
	var b strings.Builder
	b.WriteString("| class | verbs |\n|---|---|\n")
	for _, class := range []stack.ControlClass{stack.ShowControl, stack.UseControl, stack.ManageControl, stack.CaptureControl, stack.KeyControl} {
		var verbs []string
		for _, v := range stack.ControlVerbs() {
			if c, ok := stack.ControlClassOf(v); ok && c == class {
				verbs = append(verbs, "`"+v+"`")
			}
		}
		if len(verbs) > 0 {
			fmt.Fprintf(&b, "| %v | %s |\n", class, strings.Join(verbs, ", "))
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	has, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place for the verbs", file)
	case has == b.String():
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/attach.md is behind the code: go test ./test/attachc -run Verbs -update\ngot\n%s\nwant\n%s", has, b.String())
	}
}
