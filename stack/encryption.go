// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
)

// A Key is what a node seals or opens frames with, and says whose it is: the cluster's,
// the node's own, another node's (Node), or the master key (Master). ClusterKey, NodeKey
// and MasterKey make one of a text. Nothing prints the key itself.
type Key = engine.Key

// An Encryption says how a node's frames are sealed. The zero value: not at all, until
// Admin.SetKey is called, which restarts the node's links then.
// Source: docs/spec/09-security.md.
type Encryption struct {
	// Keys are set from the start. The node keeps copies.
	Keys []Key
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

// ClusterKey makes a key that all nodes have of a text as tipc(8) takes it: 0x and
// hexadecimal digits, or the characters themselves; 16, 24 or 32 bytes and 4 of salt.
// Errors: seal.ErrKey, without the text.
func ClusterKey(text string) (Key, error) {
	k, err := seal.ParseKey(frame.ClusterKey, text)
	return Key{Key: k}, err
}

// MasterKey makes a master key likewise: the same at all nodes, it protects discovery
// and the handing out of keys that the nodes make themselves.
func MasterKey(text string) (Key, error) {
	k, err := ClusterKey(text)
	k.Master = true
	return k, err
}

// NodeKey makes a key of one node likewise: of the one with this identity, of the node
// that is given it if that is zero or its own.
func NodeKey(text string, of Identity) (Key, error) {
	k, err := seal.ParseKey(frame.NodeKey, text)
	return Key{Key: k, Node: of}, err
}
