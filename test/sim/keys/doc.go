// SPDX-License-Identifier: Apache-2.0

// Package keys simulates clusters that encrypt, on a virtual clock: keys of each kind,
// which change all the time, while nodes talk, crash and start again, and a stranger
// listens and meddles.
//
// The engines are the real ones. Three to six of them stand on one segment or two, which
// lose, repeat, delay and reorder frames. An operator gives out keys and later others;
// nodes make keys of their own, by interval and on demand. Each node sends numbered messages
// to each other by name, and to all at once.
//
// What must hold is not asked of the nodes. The simulation has made every key there is: the
// operator's, and those that engines draw from chance. It opens each frame as it leaves a
// node, and counts as a violation:
//
//   - a nonce that comes twice under one key, over all nodes and their lives. A frame that
//     the network repeats is one frame;
//   - a plain frame of a node with a key; a sealed one that no key opens that there is; the
//     master key in a key message;
//   - a link down, or contact lost, while both nodes live;
//   - a message that is lost, doubled, changed, or out of order, while there is contact;
//   - contact of a stranger without a key, or with another one, with anybody; what a stranger
//     repeats, cuts and changes counts as all else: it must change nothing;
//   - in the end, with the network at peace: no contact of some two nodes, a message that has
//     not come, a key that is pending still, a node that does not use another's newest key.
//
// Beside a master key, no node crashes while the operator changes the cluster's key: one that starts
// in between, with a key that others have not, may lose a link once, as they are sent it up to
// 2.5 s after they ask, and a link ends after 1.5. Nor is it changed while one makes contact: the new key takes the
// place of its first, in the same slot, as in kernels, and it may not have heard that others took the
// first up: they cannot open what it seals for that slot (docs/spec/09-security.md §5). Of a node's own keys that others are given
// the operator changes one only when the one before is in use: they keep one of each node.
package keys
