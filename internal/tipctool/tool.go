// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
)

// How a command ends, as of tipc(8).
const (
	Done   = 0
	Failed = 255
)

// A Tool carries out commands.
type Tool struct {
	Name         string                                         // of the program, in what it prints
	Node         func(ctx context.Context) (*stack.Node, error) // finds the node; asked once a command at most
	In           io.Reader                                      // where keys may come from
	Out, Err     io.Writer
	JSON, Pretty bool // Pretty has no meaning without JSON
	Help         bool // print what the words mean, do nothing
	Verbose      bool // lists say more
}

// Run carries out the command that words say, the noun first, and returns the status to
// exit with, Done or Failed.
func (t *Tool) Run(ctx context.Context, words []string) int {
	c := &call{Tool: t, ctx: ctx, at: &root, rest: words}
	err := c.descend()
	var u usage
	switch {
	case err == nil:
		return Done
	case errors.As(err, &u) && t.Help:
		io.WriteString(t.Out, u.text)
		return Done
	case errors.As(err, &u):
		io.WriteString(t.Err, u.text)
	default:
		io.WriteString(t.Err, Answer(err))
	}
	return Failed
}

// A call is a command under way.
type call struct {
	*Tool
	ctx  context.Context
	path string   // of at, from the noun on
	at   *verb    // the last word that was a verb
	rest []string // the words behind it
	node *stack.Node
}

// open finds the node.
func (c *call) open() (*stack.Node, error) {
	if c.node == nil {
		n, err := c.Node(c.ctx)
		if err != nil {
			return nil, noNode{err}
		}
		c.node = n
	}
	return c.node, nil
}

// show prints text, or with JSON what object returns.
func (c *call) show(text func(io.Writer), object func() any) error {
	if c.JSON {
		return tipcshow.WriteJSON(c.Out, object(), c.Pretty)
	}
	text(c.Out)
	return nil
}

// value prints a bare value, with JSON as [{name: value}].
func (c *call) value(name string, v any) error {
	return c.show(func(w io.Writer) { fmt.Fprintln(w, v) }, func() any { return tipcshow.Array{tipcshow.Object{{Name: name, Value: v}}} })
}
