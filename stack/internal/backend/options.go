// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// SocketOptions are a stack.SocketConfig, whose documentation holds. The compiler keeps the two alike:
// the one is converted to the other.
type SocketOptions struct {
	Importance   frame.Importance
	Scope        frame.Scope
	Returnable   bool
	ReceiveLimit int
	Multicast    engine.Method
	Exclusive    bool
	NameWait     time.Duration
	DialTimeout  time.Duration
	NoDelay      bool
	Backlog      int
	AcceptAhead  bool
	Requests     bool
	PreferIdle   bool
	ManualAck    bool
	SyncErrors   bool
}

// ErrExclusiveScope means a socket that binds exclusively and in its node alone.
var ErrExclusiveScope = fmt.Errorf("%w: an exclusive name is the cluster's, not a node's", engine.ErrConfig)

// CallOptions are a stack.CallConfig.
type CallOptions struct {
	PreferIdle bool
}

// GroupOptions are a stack.GroupConfig.
type GroupOptions struct {
	Importance   frame.Importance
	Scope        frame.Scope
	Loopback     bool
	Events       bool
	Policy       engine.SlowPolicy
	Limit        int
	SyncErrors   bool
	ReceiveLimit int
}

// SubscriptionOptions are a stack.SubscriptionConfig.
type SubscriptionOptions struct {
	At       frame.NodeAddr
	Ranges   bool
	Scope    frame.Scope
	Changes  bool
	Complete bool
	Timeout  time.Duration
	Limit    int
}
