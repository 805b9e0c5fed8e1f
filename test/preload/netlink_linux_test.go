// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"testing"
)

func TestTool(t *testing.T) {
	needCompiler(t)
	b := newBed(t)
	for _, c := range [][]string{{"nametable", "show"}, {"link", "list"}, {"node", "list"}, {"node", "get", "netid"}, {"node", "get", "address"}, {"node", "get", "identity"}, {"socket", "list"}, {"bearer", "list"}, {"media", "list"}, {"-j", "link", "statistics", "show"}, {"link", "monitor", "list"}, {"link", "monitor", "summary"}, {"bearer", "get", "priority", "media", "eth", "device", "eth0"}} {
		t.Log(c, "\n"+b.run(t, "tipc", c...))
	}
}
