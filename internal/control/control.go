// SPDX-License-Identifier: Apache-2.0

// Package control is the table of management calls: what a program asks of a node, or has it
// change, in its own process or over the daemon's socket (docs/reference/attach.md).
//
// A call is declared once, as a variable:
//
//	var linksCall = control.Query("Admin", "links", (*local.Node).Links)
//
// That is its verb on the socket, the right it needs, what its parameters and its reply are,
// how they travel (JSON), the public method that makes it, and what carries it out. The method
// has one line, whatever backend the node has; the daemon and the documentation read the table.
package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// A Right says what a management call is about, and so who may make it: the daemon looks at
// the credentials of the program.
type Right uint8

// Rights.
const (
	Show    Right = iota + 1 // it reports how things stand
	Use                      // it does what a socket may do too
	Manage                   // it changes the node, or links
	Capture                  // it shows what others send
	Keys                     // it changes keys
)

func (r Right) String() string {
	switch r {
	case Show:
		return "show"
	case Use:
		return "use"
	case Manage:
		return "manage"
	case Capture:
		return "capture"
	case Keys:
		return "keys"
	}
	return fmt.Sprintf("Right(%d)", uint8(r))
}

// An Info describes a call.
type Info struct {
	Verb   string // on the socket
	Right  Right
	Method string // of package stack or stack/admin that makes it, as "Admin.Links"
}

// Nothing is the parameters of a call that takes none, and the reply of one that has none.
type Nothing struct{}

// A Call is a management call with parameters In and a reply Out; a local N carries it out.
type Call[N, In, Out any] struct {
	Info
	serve func(ctx context.Context, n N, in In) (Out, error)
}

// A Backend has a call carried out: by itself, which is Run, or by the daemon.
type Backend interface {
	Do(ctx context.Context, x Exchange) error
}

// An Exchange is a call on its way.
type Exchange struct {
	Verb string
	In   any // the parameters; nil: none
	Out  any // points to the reply; nil: there is none
	// Run has a node of this process carry it out.
	Run func(ctx context.Context, node any) error
}

// Do makes the call. Without an error out is the reply.
func (c *Call[N, In, Out]) Do(ctx context.Context, to Backend, in In) (out Out, err error) {
	x := Exchange{Verb: c.Verb, Run: func(ctx context.Context, node any) (err error) {
		out, err = c.serve(ctx, node.(N), in)
		return err
	}}
	if _, none := any(in).(Nothing); !none {
		x.In = in
	}
	if _, none := any(out).(Nothing); !none {
		x.Out = &out
	}
	if err = to.Do(ctx, x); err != nil {
		return *new(Out), err
	}
	return out, nil
}

// An entry is a call in the table, whose parameters are JSON.
type entry struct {
	Info
	serve  func(ctx context.Context, node any, in []byte) (reply any, err error)
	values func() (in, reply any)
}

var table = map[string]entry{}

// New declares a call that the method of the type made of its verb makes: "set-link" of
// "Admin" is Admin.SetLink. A call of "" has no method, and is made by Admin.Call.
func New[N, In, Out any](of, verb string, r Right, serve func(context.Context, N, In) (Out, error)) *Call[N, In, Out] {
	method := "Admin.Call"
	if of != "" {
		method = of + "." + methodOf(verb)
	}
	c := &Call[N, In, Out]{Info{verb, r, method}, serve}
	if _, twice := table[verb]; twice {
		panic("control: " + verb + " is declared twice")
	}
	table[verb] = entry{c.Info, func(ctx context.Context, node any, b []byte) (any, error) {
		var in In
		if err := Params(b, &in); err != nil {
			return nil, err
		}
		return serve(ctx, node.(N), in)
	}, func() (in, reply any) { return new(In), new(Out) }}
	return c
}

// Query declares a call that reports how things stand, without parameters, and cannot fail
// within the node's process.
func Query[N, Out any](of, verb string, serve func(N) Out) *Call[N, Nothing, Out] {
	return New(of, verb, Show, func(_ context.Context, n N, _ Nothing) (Out, error) { return serve(n), nil })
}

// Command declares a call that changes something, and has no reply.
func Command[N, In any](of, verb string, r Right, serve func(N, In) error) *Call[N, In, Nothing] {
	return New(of, verb, r, func(_ context.Context, n N, in In) (Nothing, error) { return Nothing{}, serve(n, in) })
}

// methodOf is a verb as the name of a method.
func methodOf(verb string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(verb, "-") {
		if word == "id" {
			word = "ID"
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// All returns all calls, by verb.
func All() []Info {
	var all []Info
	for _, e := range table {
		all = append(all, e.Info)
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.Verb, b.Verb) })
	return all
}

// Values returns pointers to the zero values of what the parameters and the reply of a call are.
func Values(verb string) (in, reply any) { return table[verb].values() }

// Lookup finds a call by its verb.
func Lookup(verb string) (c Info, ok bool) {
	e, ok := table[verb]
	return e.Info, ok
}

// Serve has a node of this process carry out a call that somebody else makes, whose
// parameters and reply are JSON; no parameters are the zero value. It does not ask whether
// that somebody may. Errors: syscall.ENOSYS without such a verb; those of Answer and of the
// call.
func Serve(ctx context.Context, node any, verb string, in []byte) (reply []byte, err error) {
	e, ok := table[verb]
	if !ok {
		return nil, fmt.Errorf("%w: no management call %.32q", syscall.ENOSYS, verb)
	}
	return Answer(verb, in, func() (any, error) { return e.serve(ctx, node, in) })
}

// maxParams is how long the parameters of a call may be, in bytes of JSON.
const maxParams = 64 << 10

// Answer makes a call whose parameters are not too long, and its reply JSON. Errors:
// syscall.EINVAL, with the reason; those of the call.
func Answer(verb string, in []byte, call func() (any, error)) ([]byte, error) {
	if len(in) > maxParams {
		return nil, fmt.Errorf("%w: %d bytes for %s, at most %d", syscall.EINVAL, len(in), verb, maxParams)
	}
	reply, err := call()
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply)
}
