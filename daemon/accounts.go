// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"os"
	"sync"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// accounts keep what each process and each user has of what is limited.
type accounts struct {
	limits [3][resources]int

	node *stack.Node

	mu     sync.Mutex // guards the rest, and the accounts; no call under it waits
	server account
	users  map[uint32]*account
	procs  map[procKey]*client
	former int // the last procKey.former
}

// A procKey is what tells processes apart. Those of other process namespaces that the
// daemon cannot see have no number; such of one user share an account.
type procKey struct {
	pid    int
	uid    uint32
	former int // above 0: the process has ended, and another one had its number since
}

type account struct {
	held    [resources]int
	clients int              // processes, of a user and of the server
	queued  *hosting.Account // of queuedBytes, which the node counts: sockets and the rest in one place
}

// A client is a process that has connections.
type client struct {
	account
	key  procKey
	who  attach.Credentials // of the connection that came first
	user *account
	all  *accounts
	pace pace
	counters

	program  string          // as it calls itself; this and the rest are guarded by all.mu
	process  *attach.Process // nil: not known, or of several
	gone     bool            // it had ended before it could be looked at
	sessions map[*session]struct{}
	plain    int // sockets
}

func newAccounts(n *stack.Node, q Quotas) *accounts {
	a := &accounts{limits: q.table(), node: n, users: map[uint32]*account{}, procs: map[procKey]*client{}}
	a.server.queued = a.queue(ofServer, nil)
	return a
}

// queue makes the account of queued bytes of a scope.
func (a *accounts) queue(scope int, of *hosting.Account) *hosting.Account {
	limit := a.limits[scope][queuedBytes]
	full := &LimitError{queuedBytes.String(), scopes[scope], limit, queuedBytes.errno(scope)}
	return hosting.NewAccount(a.node, hosting.AccountConfig{Limit: limit, Of: of, Full: full})
}

// enter counts a connection of a process. Errors: *LimitError.
func (a *accounts) enter(s *session, who attach.Credentials, q *Quotas) (*client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := procKey{pid: who.PID, uid: who.UID}
	c := a.procs[key]
	if c != nil && c.endedLocked() { // another process has the number now
		delete(a.procs, key)
		a.former++
		c.key.former = a.former
		a.procs[c.key] = c
		c = nil
	}
	if c == nil {
		u := a.users[who.UID]
		if u == nil {
			u = new(account)
		}
		c = &client{key: key, who: who, user: u, all: a, sessions: map[*session]struct{}{}, pace: newPace(q.Records)}
	}
	if err := c.chargeLocked(connections, 1); err != nil {
		return nil, err
	}
	if len(c.sessions) == 0 && c.plain == 0 {
		if c.user.queued == nil {
			c.user.queued = a.queue(ofUser, a.server.queued)
		}
		c.queued = a.queue(ofProcess, c.user.queued)
		c.watchLocked(s.c)
		a.procs[key], a.users[who.UID] = c, c.user
		c.user.clients++
		a.server.clients++
	}
	c.sessions[s] = struct{}{}
	return c, nil
}

// watchLocked finds the process that a connection is from.
func (c *client) watchLocked(conn *attach.Conn) {
	if c.who.PID == 0 { // there may be several
		return
	}
	p, err := conn.Process()
	c.process, c.gone = p, errors.Is(err, os.ErrProcessDone)
}

// endedLocked reports whether the process has ended, which had its connections: another that
// it has forked, or passed descriptors to, holds them now.
func (c *client) endedLocked() bool { return c.gone || c.process != nil && c.process.Ended() }

// leave ends a connection, and with the last one what is known of its process.
func (c *client) leave(s *session) {
	a := c.all
	a.mu.Lock()
	defer a.mu.Unlock()
	c.releaseLocked(connections, 1)
	delete(c.sessions, s)
	c.departedLocked()
}

// departedLocked ends what is known of the process when it has nothing any more.
func (c *client) departedLocked() {
	a := c.all
	if len(c.sessions) > 0 || c.plain > 0 {
		return
	}
	delete(a.procs, c.key)
	c.queued.Close()
	if c.process != nil {
		c.process.Close()
		c.process = nil
	}
	a.server.clients--
	if c.user.clients--; c.user.clients == 0 {
		delete(a.users, c.key.uid)
		c.user.queued.Close()
	}
}

// charge takes k more of r. Errors: *LimitError, with nothing taken.
func (c *client) charge(r resource, k int) error {
	if r == queuedBytes {
		return c.queued.Charge(k)
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	return c.chargeLocked(r, k)
}

func (c *client) chargeLocked(r resource, k int) error {
	for scope, x := range c.scopes() {
		if limit := c.all.limits[scope][r]; x.held[r]+k > limit {
			return &LimitError{r.String(), scopes[scope], limit, r.errno(scope)}
		}
	}
	c.releaseLocked(r, -k)
	return nil
}

// release gives k of r back.
func (c *client) release(r resource, k int) {
	if r == queuedBytes {
		c.queued.Release(k)
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.releaseLocked(r, k)
}

func (c *client) releaseLocked(r resource, k int) {
	for _, x := range c.scopes() {
		x.held[r] -= k
	}
}

// scopes are the accounts that what the client has counts in.
func (c *client) scopes() [3]*account { return [3]*account{&c.account, c.user, &c.all.server} }
