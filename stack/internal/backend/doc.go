// SPDX-License-Identifier: Apache-2.0

// Package backend is what is behind the types of package stack: an interface for each. Package
// local implements them by a node of this process, package remote by a connection to the daemon.
// What both need, and a program does not see, is here too.
//
//	stack ──► backend.Node, Conn, Packet, Group, Listener, Subscription, Poller
//	                 ▲                    ▲
//	               local                remote
//
// What is common to both, such as checks of arguments and what an error is wrapped in, is done
// by stack before the backend is called. Its errors are those of the public method of the same
// name, unless it says otherwise.
package backend
