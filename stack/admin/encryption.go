// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// An Encryption says how a node's frames are sealed. The zero value: not at all, until
// Admin.SetKey is called, which restarts the node's links then.
// Source: docs/spec/09-security.md.
type Encryption struct {
	// Keys are set from the start. The node keeps copies.
	Keys []engine.Key
	// Expected says that keys will be set later, so that the first of them does not
	// restart the links: they leave room for it from the start, 32 bytes a packet.
	Expected bool
	// Migration lets the node take plain frames of others though it has keys, while they
	// are given theirs, until Admin.SetMigration ends it. Default: they are dropped and
	// counted.
	Migration bool
	// NoExchange makes keys neither handed out to other nodes nor taken from them.
	NoExchange bool
	// Rekey is the time between two keys that the node makes itself and hands to the
	// others, and from the master key to the first, while it has a master key; 0: 24 h,
	// negative: never.
	Rekey time.Duration
}
