// SPDX-License-Identifier: Apache-2.0

package engine

// A Work is a kind of what a turn of the engine does for each of many.
type Work uint8

// Kinds of work; the owner of an engine counts frames itself.
const (
	WorkBindings    Work = iota // bindings looked at, or sent
	WorkSubscribers             // subscribers told of a binding
	WorkMembers                 // members of a group looked at for a message
	WorkFrames
	WorkSends
	WorkKinds = iota
)

// String names what is counted.
func (w Work) String() string {
	return [WorkKinds]string{"bindings", "subscribers", "members", "frames", "sends"}[w]
}

// did tells the owner of work that has been done, if it counts.
func (e *Engine) did(w Work, k int) {
	if e.cfg.Did != nil {
		e.cfg.Did(w, k)
	}
}
