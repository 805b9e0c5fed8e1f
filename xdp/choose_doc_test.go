// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the code into docs/reference/drivers.md")

const driversDoc = "../docs/reference/drivers.md"

// The documentation shows the tables that Choose works with.
//
// Proves: device.choice
func TestDocumentedTables(t *testing.T) {
	b, err := os.ReadFile(driversDoc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, want := range map[string]string{"preferences": preferencesTable(), "needs": needsTable(), "costs": costsTable()} {
		begin, end := "<!-- table "+name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(text, begin)
		got, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("no table %s in %s", name, driversDoc)
		}
		if *update {
			text = before + begin + want + end + after
		} else if got != want {
			t.Errorf("the table %s is not the code's (go test ./xdp -run %s -update writes it): got\n%s\nwant\n%s", name, t.Name(), got, want)
		}
	}
	if *update {
		if err := os.WriteFile(driversDoc, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func preferencesTable() string {
	s := "| device | MTU | tried in this order | because |\n|---|---|---|---|\n"
	for i, p := range preferences {
		mtu := "any"
		switch {
		case p.toMTU != anyMTU:
			mtu = fmt.Sprint("up to ", p.toMTU)
		case i > 0 && preferences[i-1].device == p.device:
			mtu = fmt.Sprint("above ", preferences[i-1].toMTU)
		}
		s += fmt.Sprintf("| %s | %s | %s | %s |\n", p.device, mtu, waysText(p.order), p.reason)
	}
	return s
}

func needsTable() string {
	s := "| way | needs | with a ready XSKMAP |\n|---|---|---|\n"
	for _, n := range needs {
		who, ready := waysText(n.ways), "the same"
		if len(n.ways) == 2 {
			who = "af_xdp"
		}
		if n.onlyOwn {
			ready = "not needed"
		} else if who == "af_packet" {
			ready = ""
		}
		s += fmt.Sprintf("| %s | %s | %s |\n", who, n.says, ready)
	}
	return s
}

func costsTable() string {
	s := "| device | way | takes offloads | others who use the interface | the node |\n|---|---|---|---|---|\n"
	for _, c := range costs {
		takes := "no"
		if c.Takes {
			takes = "yes"
		}
		s += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", c.device, waysText(c.ways), takes, c.Others, c.Ours)
	}
	return s
}

func waysText(ways []Method) string {
	var s []string
	for _, w := range ways {
		s = append(s, w.String())
	}
	return strings.Join(s, ", ")
}
