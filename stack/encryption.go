// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A Key is what a node seals or opens frames with, and says whose it is: the cluster's,
// the node's own, another node's (Node), or the master key (Master). ClusterKey, NodeKey
// and MasterKey make one of a text. Nothing prints the key itself.
type Key = engine.Key

// An Encryption says how a node's frames are sealed; go doc ./stack/admin Encryption has the
// fields. The zero value: not at all, until Admin.SetKey is called, which restarts the node's
// links then.
type Encryption = admin.Encryption

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
