// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// An UnreachableError is why a message cannot go to an address. It unwraps to ErrNoName,
// ErrNoNode, ErrNoLink, ErrNoMember or ErrEvicted, each of which is ErrUnreachable.
type UnreachableError struct {
	Addr   net.Addr      // may be nil where it was to go to all members of a group
	Waited time.Duration // for the name to appear; 0: not at all
	Err    error
}

// Error says what is not there, and what shows why.
func (e *UnreachableError) Error() string {
	waited := ""
	if e.Waited > 0 {
		waited = fmt.Sprintf(" for %v", e.Waited.Round(time.Microsecond))
	}
	switch e.Err {
	case engine.ErrNoName:
		return fmt.Sprintf("no socket is bound to %v%s (is one? utipc nametable show)", e.Addr, waited)
	case engine.ErrNoNode:
		return fmt.Sprintf("no node %v is known%s (which are? utipc node list)", e.node(), waited)
	case engine.ErrNoLink:
		return fmt.Sprintf("no link to node %v is up%s (which are? utipc link list)", e.node(), waited)
	case engine.ErrNoMember:
		if r, ok := e.Addr.(frame.Range); e.Addr == nil || ok && r.Lower == 0 && r.Upper == ^uint32(0) {
			return "nobody else is in the group (wait with Group.WaitMembers)"
		}
		return fmt.Sprintf("no member of the group is %v (who is? Group.Members)", e.Addr)
	case engine.ErrEvicted:
		return fmt.Sprintf("member %v was evicted from the group: it did not read in time (GroupConfig.Policy)", e.Addr)
	}
	return fmt.Sprintf("%v cannot be reached%s", e.Addr, waited)
}

// node is the node that an address names, or else the one that has it.
func (e *UnreachableError) node() string {
	switch a := e.Addr.(type) {
	case frame.Service:
		if a.Node != 0 {
			return a.Node.String()
		}
	case frame.SocketAddr:
		return a.Node.String()
	}
	return fmt.Sprintf("of %v", e.Addr)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }
