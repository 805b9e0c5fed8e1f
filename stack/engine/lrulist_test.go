// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

func (r *lruList) list() (s []string) {
	for n := r.first; n != nil; n = n.behind {
		s = append(s, fmt.Sprint(n.addr))
		if n.lruList != r || n.behind == nil && n != r.last || n.behind != nil && n.behind.before != n {
			s = append(s, "broken")
		}
	}
	if len(s) != r.n {
		s = append(s, fmt.Sprint("counted ", r.n))
	}
	return s
}

// Who never was up is on one roll, who was up and is not on the other, by the time
// since; who is up is on none. Each is forgotten after its own time.
func TestRolls(t *testing.T) {
	p := newScriptedPeer(t)
	check := func(what string, strangers, gone []string) {
		t.Helper()
		if a, b := p.strangers.list(), p.gone.list(); !slices.Equal(a, strangers) || !slices.Equal(b, gone) {
			t.Errorf("%s: got strangers %v, gone %v, want %v, %v", what, a, b, strangers, gone)
		}
	}
	pop := fmt.Sprint(popAddr)
	for i := range 3 {
		p.now += time.Second
		p.disc(frame.Request, stranger(i))
	}
	p.now += time.Millisecond
	p.disc(frame.Request, nil)
	check("new", []string{"2000000", "2000001", "2000002", pop}, nil)
	p.again()
	check("one up", []string{"2000000", "2000001", "2000002"}, nil)
	p.remove(p.byAddr[0x2000001])
	check("one removed", []string{"2000000", "2000002"}, nil)
	if got := len(p.deadlines.heap); got != len(p.nodes) {
		t.Errorf("one removed: %d deadlines of %d nodes", got, len(p.nodes))
	}
	p.wait(p.now + 5*time.Second)
	check("lost", []string{"2000000", "2000002"}, []string{pop})
	lost := p.byAddr[popAddr].downSince
	p.again()
	for range 30 {
		p.wait(p.now + time.Second)
		p.report(nil)
	}
	check("up again", []string{"2000000", "2000002"}, nil)
	p.wait(p.now + 100*time.Second)
	check("lost again", []string{"2000000", "2000002"}, []string{pop})
	if p.byAddr[popAddr].downSince == lost {
		t.Error("the time since has not moved")
	}
	p.wait(forgetAfter + time.Second + slowTick)
	check("the first forgotten", nil, []string{pop})
	p.wait(p.byAddr[popAddr].downSince + forgetAfter + slowTick)
	check("all forgotten", nil, nil)
	p.done()
}
