// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"slices"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// A Rule says who may make calls of a class. Root and the daemon's own user always may.
type Rule struct {
	Everyone bool // who may open the socket
	Users    []uint32
	Groups   []uint32 // primary or supplementary
}

// A Policy says who may do what: the classes of verbs, as stack.ControlClass has them.
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

// Allows reports whether a process with these credentials may make calls of a class.
func (p *Policy) Allows(class stack.ControlClass, who attach.Credentials) bool {
	if who.UID == 0 || int64(who.UID) == int64(os.Geteuid()) {
		return true
	}
	switch class {
	case stack.UseControl:
		return p.Use.allows(who)
	case stack.ShowControl:
		return p.Show.allows(who)
	case stack.ManageControl:
		return p.Manage.allows(who)
	case stack.CaptureControl:
		return p.Capture.allows(who)
	case stack.KeyControl:
		return p.Keys.allows(who)
	}
	return false
}

func (r *Rule) allows(who attach.Credentials) bool {
	return r.Everyone || slices.Contains(r.Users, who.UID) || slices.ContainsFunc(r.Groups, who.InGroup)
}
