// SPDX-License-Identifier: Apache-2.0

package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// attachedWaits are the functions of the attached backend, and of its connection to the daemon,
// that wait by themselves, and what ends that. All other calls wait through these.
var attachedWaits = map[string]string{
	// All calls of the backend wait by await, in one file.
	"remote: waitLock.await": "a wake-up: deadline, context, close, the end of what it waits at",
	"remote: waitLock.sleep": "a wake-up, a time; of await alone",
	"remote: waitLock.enter": "nothing: it has await look when the context is done",
	"remote: role.until":     "nothing: it sets how long a call waits in the connection",
	// The end of a socket, which nobody calls any more: it writes until its deadline.
	"remote: clientConn.last": "nothing: it sets how long the last words wait for room",
	// Of a capture, which has no call that waits.
	"remote: Node.capture": "nothing: it closes the capture when the context is done",
	// The connection: of one that is a socket the runtime's poller waits.
	"attach: wakers.wait":       "gives the turn back that waitTurn took",
	"attach: wakers.waitTurn":   "the turn on the socket of a ring: deadline, close",
	"attach: wakers.peek":       "gives the turn back",
	"attach: wakers.notifyPeer": "the system's memory, at most 16 ms at a time: close",
	"attach: Conn.writeSocket":  "the system's memory, at most 16 ms at a time: deadline, close",
}

// No call of an attached program waits in a loop of its own: a function that blocks on a channel,
// sleeps, or sets how long something may wait, stands in the list above, with what ends it.
//
// Mutations: Socket.reportOn tries, and sleeps with time.Sleep while there is no report; Node.rest
// waits for a timer; put sets the write deadline of the connection.
//
// Proves: daemon.api
func TestAttachedCallsWaitInOnePlace(t *testing.T) {
	fset := token.NewFileSet()
	found := map[string]bool{}
	for pkg, dir := range map[string]string{"remote": "stack/internal/remote", "attach": "attach"} {
		for _, file := range sources(t, dir) {
			f, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := pkg + ": " + strings.TrimPrefix(receiver(d)+"."+fn.Name.Name, ".")
				for _, at := range blocks(fn, pkg == "remote") {
					if found[name] = true; attachedWaits[name] == "" {
						p := fset.Position(at)
						t.Errorf("%s:%d: %s waits by itself", filepath.Base(p.Filename), p.Line, name)
					}
				}
			}
		}
	}
	for name := range attachedWaits {
		if !found[name] {
			t.Errorf("%s waits no more", name)
		}
	}
}

// limits are the functions that wait for a time, or say how long something may wait; true: they belong
// to the connection, which waits by itself.
var limits = map[string]bool{
	"sleep": false, "Sleep": false, "NewTimer": false, "NewTicker": false, "After": false, "AfterFunc": false,
	"SetReadDeadline": true, "SetWriteDeadline": true, "SetDeadline": true, "setDeadline": true,
}

// blocks are the places where a function waits by itself, or with backend says how long the connection
// waits.
func blocks(fn *ast.FuncDecl, backend bool) (at []token.Pos) {
	tries := map[ast.Node]bool{} // receives of a select with a default
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if c.(*ast.CommClause).Comm == nil {
					for _, c := range n.Body.List {
						if comm := c.(*ast.CommClause).Comm; comm != nil {
							ast.Inspect(comm, func(n ast.Node) bool { tries[n] = true; return true })
						}
					}
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !tries[n] {
				at = append(at, n.Pos())
			}
		case *ast.SendStmt:
			if !tries[n] {
				at = append(at, n.Pos())
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				if ofConn, known := limits[s.Sel.Name]; known && (backend || !ofConn) {
					at = append(at, n.Pos())
				}
			}
		}
		return true
	})
	return at
}
