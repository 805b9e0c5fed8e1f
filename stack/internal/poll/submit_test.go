// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"fmt"
	"testing"
)

// Rule (d) as a model of three senders that find the lock taken or not, each step
// atomic, in all orders. At the end no job may be left in the list.

type submitState uint8

const (
	subStart   submitState = iota // tries the lock
	subPush                       // found it taken: appends
	subAgain                      // tries once more
	subBatch                      // has the lock: carries out what is in the list
	subRelease                    // lets go of it
	subCheck                      // has let go: looks at the list again
	subRetake                     // saw a job: tries the lock
	subDone                       // waits for its job, or is through
)

type submitWorld struct {
	at     [3]submitState
	locked bool
	queued [3]bool // jobs in the list
}

// step takes sender i one step on. flaw leaves out a part of the rule.
func (s submitWorld) step(i int, flaw string) submitWorld {
	switch s.at[i] {
	case subStart:
		if s.locked {
			s.at[i] = subPush
		} else {
			s.locked, s.at[i] = true, subBatch
		}
	case subPush:
		s.queued[i], s.at[i] = true, subAgain
		if flaw == "no second try" {
			s.at[i] = subDone
		}
	case subAgain:
		s.at[i] = subDone
		if !s.locked {
			s.locked, s.at[i] = true, subBatch
		}
	case subBatch:
		s.queued, s.at[i] = [3]bool{}, subRelease
	case subRelease:
		s.locked, s.at[i] = false, subCheck
		if flaw == "no look after unlocking" {
			s.at[i] = subDone
		}
	case subCheck:
		s.at[i] = subDone
		if s.queued != [3]bool{} {
			s.at[i] = subRetake
		}
	case subRetake:
		s.at[i] = subDone
		if !s.locked {
			s.locked, s.at[i] = true, subBatch
		}
	}
	return s
}

// lost returns a state at the end of which a job is left, if some order leads
// there.
func lost(flaw string) (worst *submitWorld, states int) {
	seen := map[submitWorld]bool{}
	var visit func(s submitWorld)
	visit = func(s submitWorld) {
		if seen[s] {
			return
		}
		seen[s] = true
		end := true
		for i := range s.at {
			if s.at[i] != subDone {
				end = false
				visit(s.step(i, flaw))
			}
		}
		if end && (s.queued != [3]bool{} || s.locked) {
			worst = &s
		}
	}
	visit(submitWorld{})
	return worst, len(seen)
}

// Proves: poll.leader
func TestSubmitInAllOrders(t *testing.T) {
	if s, n := lost(""); s != nil {
		t.Errorf("a job is left: %+v", *s)
	} else {
		t.Logf("%d states", n)
	}
	for _, flaw := range []string{"no second try", "no look after unlocking"} {
		if s, _ := lost(flaw); s == nil {
			t.Errorf("the model does not find: %s", fmt.Sprint(flaw))
		}
	}
}
