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
	// Calls that wait for something to read, or for an answer: await, which sleeps here or leads.
	"remote: clientConn.sleep":   "a wake-up, a time: of await; of follow, for the next session; of a close, for the leader to leave",
	"remote: clientConn.await":   "calls sleep: deadline, context, close, the end of the line",
	"remote: Socket.follow":      "calls sleep when the line is over, where await would return: deadline, context, close, a refusal",
	"remote: clientWriter.await": "the turn to write, or that of a stream: deadline, context, close",
	// Calls that wait for no line.
	"remote: Node.whenThere":       "a daemon: context, close of the node, a refusal",
	"remote: Node.Close":           "what was sent: context",
	"remote: Socket.closeWait":     "what was sent: context, close of the node",
	"remote: clientConn.postParts": "a request of several records, that goes on whole: deadline and context by its caller's",
	// Ends, which wait for calls that have been told to end; and goroutines of the node.
	"remote: Conn.endTurn":         "nothing: it takes back what takeTurn has put",
	"remote: Socket.gracefulClose": "calls that have been told to end; the daemon, for closeWait",
	"remote: clientConn.inTurn":    "nothing: it takes back what it has put",
	"remote: clientConn.readOn":    "its goroutine, which it has told to end",
	"remote: Node.repair":          "the loss of a daemon, or close of the node",
	"remote: Node.rest":            "a pause of repair, or close of the node",
	// The connection: of one that is a socket the runtime's poller waits.
	"attach: wakers.wait":       "gives the turn back that waitTurn took",
	"attach: wakers.waitTurn":   "the turn on the socket of a ring: deadline, close",
	"attach: wakers.peek":       "gives the turn back",
	"attach: wakers.notifyPeer": "the system's memory, at most 16 ms at a time: close",
	"attach: Conn.writeSocket":  "the system's memory, at most 16 ms at a time: deadline, close",
}

// No call of an attached program waits in a loop of its own: a function that blocks on a channel,
// sleeps, or has the line's sleep called stands in the list above, with what ends it.
//
// Mutation: Socket.nextReport tries, and sleeps with time.Sleep while there is no report.
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
				for _, at := range blocks(fn) {
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

// blocks are the places where a function waits by itself.
func blocks(fn *ast.FuncDecl) (at []token.Pos) {
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
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "sleep" || s.Sel.Name == "Sleep") {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}
