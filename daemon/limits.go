// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"fmt"
	"syscall"
)

// A resource is something that a program can have too much of.
type resource uint8

const (
	connections   resource = iota // of the daemon's socket, before and after hello
	names                         // bindings, members of groups among them
	subscriptions                 // and streams
	calls                         // requests that wait for their answer
	rings
	watches
	captures
	audits
	queuedBytes // that wait; the node counts them, see hosting.Account
	resources
)

func (r resource) String() string {
	return [...]string{"connections", "names", "subscriptions", "calls", "rings", "watches", "captures", "audits", "queued bytes"}[r]
}

// Limits are how much of each a process, a user, or all together may have; of a field that
// is 0 the default, of a negative one as much as they like.
type Limits struct {
	Connections   int // one for each socket, each subscription, and each program
	Names         int // bindings, and members of groups
	Subscriptions int // to topology events, and streams
	Calls         int // requests that wait for their answer
	Rings         int // in shared memory, of 256 KiB each way or less; a larger one counts as several
	Watches       int // streams of what happens to the node
	Captures      int // streams of frames
	Audits        int // at once

	// QueuedBytes wait: for the program to read them, in the daemon or in its sockets, or to
	// be sent. See hosting.Account for what becomes of that which is beyond.
	QueuedBytes int
}

// Quotas are the Limits of each process, each user, and of all.
type Quotas struct {
	Process, User, Server Limits
	Records               int // that a process may send a second, for long; beyond, it is read more slowly. 0: no limit
}

// Defaults of Quotas.
var defaultQuotas = [3][resources]int{
	{connections: 4096, names: 8192, subscriptions: 256, calls: 1024, rings: 256, watches: 16, captures: 4, audits: 2, queuedBytes: 64 << 20},
	{connections: 16384, names: 32768, subscriptions: 1024, calls: 4096, rings: 1024, watches: 64, captures: 8, audits: 4, queuedBytes: 256 << 20},
	{connections: 65536, names: 65000, subscriptions: 8192, calls: 16384, rings: 4096, watches: 240, captures: 8, audits: 8, queuedBytes: 1 << 30},
}

// The scopes of limits, and what a program is told that is beyond one.
const (
	ofProcess = iota
	ofUser
	ofServer
)

var scopes = [3]string{"process", "user", "server"}

// errnos are what a request meets that is beyond a limit, by scope.
func (r resource) errno(scope int) syscall.Errno {
	switch {
	case r == calls || r == audits:
		return syscall.EAGAIN
	case scope == ofUser:
		return syscall.EUSERS
	case r == connections && scope == ofProcess:
		return syscall.EMFILE
	case r == connections:
		return syscall.ENFILE
	}
	return syscall.ENOBUFS
}

// table makes limits a table, defaults filled in.
func (q *Quotas) table() (t [3][resources]int) {
	for scope, l := range [...]*Limits{&q.Process, &q.User, &q.Server} {
		for r, n := range [...]int{l.Connections, l.Names, l.Subscriptions, l.Calls, l.Rings, l.Watches, l.Captures, l.Audits, l.QueuedBytes} {
			switch {
			case n == 0:
				n = defaultQuotas[scope][r]
			case n < 0:
				n = int(^uint(0) >> 1)
			}
			t[scope][r] = n
		}
	}
	return t
}

// A LimitError is what was beyond a limit. It unwraps to its errno.
type LimitError struct {
	What  string // "connections", "names", ...
	Of    string // "process", "user", "server"
	Limit int
	Errno syscall.Errno
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("daemon: a %s may have %d %s", e.Of, e.Limit, e.What)
}

// Unwrap returns the errno.
func (e *LimitError) Unwrap() error { return e.Errno }
