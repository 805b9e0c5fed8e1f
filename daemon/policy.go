// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"slices"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
)

// A Right is what a management call needs of who makes it.
type Right = control.Right

// The rights.
const (
	ShowRight    = control.Show    // of calls that report how things stand
	UseRight     = control.Use     // that do what a socket may do too
	ManageRight  = control.Manage  // that change the node, or links
	CaptureRight = control.Capture // that show what others send
	KeysRight    = control.Keys    // that change keys
)

// A Rule says who may make calls that need a right. Root and the daemon's own user always may.
type Rule struct {
	Everyone bool // who may open the socket
	Users    []uint32
	Groups   []uint32 // primary or supplementary
}

// A Policy says who may do what: by the rights that verbs need.
// What the socket file's owner, group and mode allow comes before it.
type Policy struct {
	Use     Rule // TIPC sockets, subscriptions
	Show    Rule // how things stand
	Manage  Rule // changes of the node and its links
	Capture Rule // frames, others' data among them
	Keys    Rule // changes of keys
}

// DefaultPolicy lets everyone use sockets and look, and the given groups do all else.
func DefaultPolicy(admins ...uint32) Policy {
	few := Rule{Groups: admins}
	return Policy{Use: Rule{Everyone: true}, Show: Rule{Everyone: true}, Manage: few, Capture: few, Keys: few}
}

// Allows reports whether a process with these credentials may make calls that need a right.
func (p *Policy) Allows(right Right, who attach.Credentials) bool {
	if who.UID == 0 || int64(who.UID) == int64(os.Geteuid()) {
		return true
	}
	switch right {
	case UseRight:
		return p.Use.allows(who)
	case ShowRight:
		return p.Show.allows(who)
	case ManageRight:
		return p.Manage.allows(who)
	case CaptureRight:
		return p.Capture.allows(who)
	case KeysRight:
		return p.Keys.allows(who)
	}
	return false
}

func (r *Rule) allows(who attach.Credentials) bool {
	return r.Everyone || slices.Contains(r.Users, who.UID) || slices.ContainsFunc(r.Groups, who.InGroup)
}
