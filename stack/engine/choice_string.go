// SPDX-License-Identifier: Apache-2.0

package engine

import "strconv"

// String returns what was read, as in "left".
func (k GroupKind) String() string {
	switch k {
	case GroupData:
		return "message"
	case MemberJoined:
		return "joined"
	case MemberLeft:
		return "left"
	case MemberEvicted:
		return "evicted"
	case MemberDropping:
		return "dropping"
	}
	return "GroupKind(" + strconv.Itoa(int(k)) + ")"
}

// String returns the policy's name, as in "drop oldest".
func (p SlowPolicy) String() string {
	switch p {
	case Strict:
		return "strict"
	case Lag:
		return "lag"
	case DropOldest:
		return "drop oldest"
	}
	return "SlowPolicy(" + strconv.Itoa(int(p)) + ")"
}

// String returns the method's name, as in "replicast".
func (m Method) String() string {
	switch m {
	case Auto:
		return "auto"
	case Broadcast:
		return "broadcast"
	case Replicast:
		return "replicast"
	}
	return "Method(" + strconv.Itoa(int(m)) + ")"
}
