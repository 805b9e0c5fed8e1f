// SPDX-License-Identifier: Apache-2.0

package frame

import "strconv"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=User -linecomment
//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=PayloadType -linecomment
//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=ErrorCode -linecomment
//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Importance -linecomment

// A User says who a message is for within a node. For payload it is the
// message's importance. Source: docs/spec/01-wire.md §3.1.
type User uint8

const (
	UserLow       User = iota // low
	UserMedium                // medium
	UserHigh                  // high
	UserCritical              // critical
	userSystem                // system
	UserBroadcast             // bcast
	UserBundler               // bundle
	UserLink                  // link
	UserConn                  // conn
	UserGroup                 // group
	UserTunnel                // tunnel
	UserName                  // name
	UserFragment              // frag
	UserDiscovery             // disc
	UserCrypto                // crypto
	userTopology              // topsrv
)

// IsPayload reports whether messages of this user carry a program's data.
func (u User) IsPayload() bool { return u <= UserCritical }

// An Importance is the class in which a message waits for a busy link.
type Importance uint8

const (
	Low      Importance = iota // low
	Medium                     // medium
	High                       // high
	Critical                   // critical
	System                     // system
)

// A PayloadType is the way a payload message is addressed.
// Source: docs/spec/01-wire.md §3.2.
type PayloadType uint8

const (
	ConnMsg       PayloadType = iota // conn
	McastMsg                         // mcast
	NamedMsg                         // named
	DirectMsg                        // direct
	groupEvent                       // group-event
	GroupBcastMsg                    // group-bcast
	GroupMcastMsg                    // group-mcast
	GroupUcastMsg                    // group-ucast
)

// An ErrorCode says why a message came back. Source: docs/spec/01-wire.md §3.3.
type ErrorCode uint8

const (
	OK           ErrorCode = iota // ok
	NoName                        // no name
	NoPort                        // no port
	NoNode                        // no node
	Overload                      // overload
	ConnShutdown                  // connection shutdown
)

// A Scope says how far a lookup or a binding reaches.
type Scope uint8

const (
	NoScope      Scope = 0 // not a lookup
	ZoneScope    Scope = 1 // of old nodes; read as cluster
	ClusterScope Scope = 2
	NodeScope    Scope = 3
)

var scopeNames = [...]string{"none", "zone", "cluster", "node"}

// String returns the scope as tipc(8) calls it, or "none".
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "Scope(" + strconv.Itoa(int(s)) + ")"
}

// Limits of the protocol, in bytes. Source: docs/spec/01-wire.md §3.4.
const (
	MaxHeader    = 60
	MaxPayload   = 66000
	MaxMessage   = MaxHeader + MaxPayload
	MaxReturned  = 1024 // payload that comes back with a rejected message
	MinMTU       = 100
	DefaultNetID = 4711
)
