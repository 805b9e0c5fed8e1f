// SPDX-License-Identifier: Apache-2.0

package replay

import "bytes"

// MaxAllowed is the share of a side's frames that may use an allowance.
const MaxAllowed = 0.05

// An Allowance is a difference that is not held against us, on a stated
// condition.
type Allowance struct {
	Name    string // as the verdict prints it
	Field   string
	Rule    string // when it holds
	Capture string // where it is seen
	Reason  string

	// apply, where it is a matter of bytes, makes ours like recorded in this one field, and reports whether they
	// differed there and the rule holds.
	apply func(recorded, ours []byte) bool
}

// Overtakes is the one Allowance of order.
const Overtakes = "a STATE overtakes"

// Allowances are all differences that are not held against us. What cannot be known
// from a capture is bounded, not allowed.
var Allowances = []Allowance{{
	Name: Overtakes, Field: "order",
	Rule:    "a message of the link protocol is recorded before packets that we send before it",
	Capture: "18, frame 320",
	Reason:  "a node with two processors sends a long list of packets on one while it answers on the other",
}}

// same reports whether a recorded frame and ours agree, and the names of the
// allowances it took. Of a frame that was cut only what is there is compared.
func same(f *Frame, ours []byte) (rules []string, ok bool) {
	if f.Cut {
		ours = ours[:min(len(ours), len(f.Data))]
	}
	if bytes.Equal(f.Data, ours) {
		return nil, true
	}
	ours = bytes.Clone(ours)
	for _, a := range Allowances {
		if a.apply != nil && a.apply(f.Data, ours) {
			rules = append(rules, a.Name)
		}
	}
	return rules, bytes.Equal(f.Data, ours)
}
