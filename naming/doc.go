// SPDX-License-Identifier: Apache-2.0

// Package naming is what a node knows of names: the binding table, how a name
// becomes a socket, and how bindings travel between nodes.
//
//	own bind, unbind ──► Publisher ──► bulk and numbered updates, to peers
//	        │
//	        ▼
//	      Table ──► Anycast, Nodes, LocalReceivers, events
//	        ▲
//	        │
//	from a peer ───────► Inbox: its bulk and updates, put in order
//
// Every node has every cluster binding of every node it is in contact with; a
// binding's own node is the only authority on it.
//
// Subscriptions finds who is to be told of an event, by type and range; Remote is a
// subscription at another node.
package naming
