// SPDX-License-Identifier: Apache-2.0

package backend

import (
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
