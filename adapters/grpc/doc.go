// SPDX-License-Identifier: Apache-2.0

// Package tipcgrpc lets gRPC clients name a TIPC service as their target.
//
//	conn, err := grpc.NewClient("tipc:///18888:17", append(tipcgrpc.DialOptions(node), creds)...)
//
// A target is a service, or a range of services as in "tipc:///18888:0-99". Every socket that is
// bound to it is an address of its own, with a connection of its own, and calls go to them in turn
// (gRPC's round_robin). The addresses follow the name table: a server that starts is used once its
// name is known, and one that ends, or whose node is lost, is used no longer. There is no
// polling.
//
// A server needs nothing of this package: it serves on a stack.Listener.
package tipcgrpc
