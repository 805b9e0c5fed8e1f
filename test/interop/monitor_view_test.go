// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// parseMonitor reads what "tipc link monitor list" prints of one bearer. The addresses
// of applied members, which are not told, are those of the next ones in the ring.
func parseMonitor(text string) (m admin.Monitor, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "bearer ") {
		return m, fmt.Errorf("no list: %q", text)
	}
	m.Bearer = strings.TrimPrefix(lines[0], "bearer ")
	for _, line := range lines[2:] {
		var r monitor.Row
		f := strings.Fields(line)
		if len(f) < 4 {
			return m, fmt.Errorf("row %q", line)
		}
		if r.Node, err = stack.ParseNodeAddr(f[0]); err != nil {
			return m, err
		}
		if _, err = fmt.Sscan(f[3], &r.Generation); err != nil {
			return m, fmt.Errorf("row %q: %w", line, err)
		}
		r.Up, r.Direct = f[1] == "up", f[2] == "direct"
		for _, x := range f[4:] {
			rest, ok := strings.CutPrefix(x, "[")
			if !ok {
				for _, c := range strings.ReplaceAll(x, ",", "") {
					r.Applied = append(r.Applied, monitor.Member{Up: c == 'U'})
				}
				continue
			}
			for one := range strings.SplitSeq(strings.TrimSuffix(rest, "]"), ",") {
				if one == "" {
					continue
				}
				addr, state, _ := strings.Cut(one, ":")
				a, err := stack.ParseNodeAddr(addr)
				if err != nil {
					return m, fmt.Errorf("row %q: %w", line, err)
				}
				r.Rest = append(r.Rest, monitor.Member{Node: a, Up: state == "U"})
			}
		}
		m.Members = append(m.Members, r)
	}
	m.Size = len(m.Members)
	for i := range m.Members {
		for k := range m.Members[i].Applied {
			m.Members[i].Applied[k].Node = m.Members[(i+1+k)%m.Size].Node
		}
	}
	return m, nil
}

// row is a member's row in a list.
func row(m *admin.Monitor, a stack.NodeAddr) *monitor.Row {
	for i := range m.Members {
		if m.Members[i].Node == a {
			return &m.Members[i]
		}
	}
	return nil
}

// told is what a row says of its owner's domain.
func told(r *monitor.Row) []monitor.Member { return slices.Concat(r.Applied, r.Rest) }

// differing tells where the lists of nodes that live do not agree: each must have each
// other, and its domain as its owner has it, and supervise whom the rules say.
func differing(views map[stack.NodeAddr]*admin.Monitor) string {
	var all []string
	for viewer, v := range views {
		if v.Members[0].Node != viewer {
			all = append(all, fmt.Sprintf("%v begins with %v", viewer, v.Members[0].Node))
			continue
		}
		for owner, o := range views {
			r, own := row(v, owner), &o.Members[0]
			switch {
			case r == nil || !r.Up:
				all = append(all, fmt.Sprintf("%v does not have %v up", viewer, owner))
			case r.Generation != own.Generation:
				all = append(all, fmt.Sprintf("%v has generation %d of %v, which is at %d", viewer, r.Generation, owner, own.Generation))
			case !slices.Equal(told(r), told(own)):
				all = append(all, fmt.Sprintf("%v has %v of %v, which says %v", viewer, told(r), owner, told(own)))
			}
		}
		for i, direct := range supervised(v) {
			if r := v.Members[i]; r.Direct != direct {
				all = append(all, fmt.Sprintf("%v supervises %v: %v, by the rules %v", viewer, r.Node, r.Direct, direct))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// supervised says whom a node supervises itself, by the domains in its list.
// Source: docs/spec/03-discovery-and-node.md §8.4.
func supervised(m *admin.Monitor) []bool {
	direct := make([]bool, len(m.Members))
	direct[0] = true
	head, covered := 0, 0
	for i := range m.Members {
		switch {
		case i == 0:
		case covered < len(m.Members[head].Applied):
			covered++
			direct[i] = head == 0
		case m.Members[i].Up:
			direct[i] = true
			head, covered = i, 0
		}
	}
	return direct
}

func TestParseMonitor(t *testing.T) {
	text := `
bearer eth:eth0
node          status monitored generation applied_node_status [non_applied_node:status]
1.1.1         up     direct    3          UU []
1.1.2         up     direct    9          U [1001009:D,100100a:U]
1.1.4         down   indirect  0          
1.1.5         up     direct    1          UUDUU,U []
`
	m, err := parseMonitor(text)
	if err != nil || m.String() != text {
		t.Errorf("%v: got\n%s\nwant\n%s", err, m.String(), text)
	}
	if got := supervised(&m); !slices.Equal(got, []bool{true, true, true, true}) {
		t.Errorf("supervised: got %v", got)
	}
	if got := fmt.Sprint(told(&m.Members[1])); got != "[{1001004 true} {1001009 false} {100100a true}]" {
		t.Errorf("got %v", got)
	}
}
