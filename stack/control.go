// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"syscall"
)

// A ControlClass says what a management call is about, and so who may make it: the daemon
// asks it of the credentials of a program.
type ControlClass uint8

// Classes of management calls.
const (
	ShowControl    ControlClass = iota + 1 // it tells how things stand
	UseControl                             // it does what a socket may do too
	ManageControl                          // it changes the node, or links
	CaptureControl                         // it shows what others send
	KeyControl                             // it changes keys
)

func (c ControlClass) String() string {
	switch c {
	case ShowControl:
		return "show"
	case UseControl:
		return "use"
	case ManageControl:
		return "manage"
	case CaptureControl:
		return "capture"
	case KeyControl:
		return "keys"
	}
	return fmt.Sprintf("ControlClass(%d)", uint8(c))
}

// maxControlIn is how long the words of a management call may be, in bytes of JSON.
const maxControlIn = 64 << 10

// A control is a management call as it travels: a verb, and JSON in and out.
type control struct {
	class  ControlClass
	method string // of Node, that it is
	serve  func(ctx context.Context, n *Node, in []byte) (out any, err error)
}

// controls are all management calls. A method of an attached Node sends its verb, and the
// daemon has ServeControl call the same method of its own node.
var controls = map[string]control{}

func init() {
	for _, table := range []map[string]control{showControls, changeControls, nodeControls, keyControls} {
		maps.Copy(controls, table)
	}
}

// ControlVerbs returns the verbs of all management calls, sorted.
func ControlVerbs() []string { return slices.Sorted(maps.Keys(controls)) }

// ControlClassOf returns the class of a management call; ok is false where there is none
// of that verb.
func ControlClassOf(verb string) (class ControlClass, ok bool) {
	c, ok := controls[verb]
	return c.class, ok
}

// ControlMethodOf returns the method of Node that a management call is; empty where there is
// none of that verb.
func ControlMethodOf(verb string) string { return controls[verb].method }

// ServeControl makes a management call for somebody else: in and out are JSON, as
// docs/attach.md lists them. An empty in is the zero value. It does not ask whether that
// somebody may. Errors: syscall.ENOSYS without such a verb; syscall.EINVAL, with the
// reason, where in is not what the verb takes; those of the call.
func ServeControl(ctx context.Context, n *Node, verb string, in []byte) (out []byte, err error) {
	c, ok := controls[verb]
	if !ok {
		return nil, fmt.Errorf("%w: no management call %.32q", syscall.ENOSYS, verb)
	}
	return answer(verb, in, func() (any, error) { return c.serve(ctx, n, in) })
}

// answer makes a call whose words are not too long, and its answer JSON.
func answer(verb string, in []byte, call func() (any, error)) ([]byte, error) {
	if len(in) > maxControlIn {
		return nil, fmt.Errorf("%w: %d bytes for %s, at most %d", syscall.EINVAL, len(in), verb, maxControlIn)
	}
	told, err := call()
	if err != nil {
		return nil, err
	}
	return json.Marshal(told)
}

// none is what a call takes, or tells, that takes or tells nothing.
type none struct{}

// show is a call without words that cannot fail.
func show[Out any](method string, f func(*Node) Out) control {
	return control{ShowControl, method, func(_ context.Context, n *Node, in []byte) (any, error) {
		if err := words(in, &none{}); err != nil {
			return nil, err
		}
		return f(n), nil
	}}
}

// tell is a call with words that tells nothing but its error.
func tell[In any](class ControlClass, method string, f func(*Node, In) error) control {
	return ask(class, method, func(_ context.Context, n *Node, in In) (none, error) { return none{}, f(n, in) })
}

// ask is a call with words and an answer.
func ask[In, Out any](class ControlClass, method string, f func(context.Context, *Node, In) (Out, error)) control {
	return control{class, method, func(ctx context.Context, n *Node, b []byte) (any, error) {
		var in In
		if err := words(b, &in); err != nil {
			return nil, err
		}
		return f(ctx, n, in)
	}}
}

// words reads what a call was given: one JSON value, all of whose fields are known. Its
// errors have nothing of it in them, which may be a key.
func words(b []byte, in any) error {
	if len(b) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return fmt.Errorf("%w: not the words of this call: %s", syscall.EINVAL, wordsFault(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one value", syscall.EINVAL)
	}
	return nil
}

func wordsFault(err error) string {
	switch e := err.(type) {
	case *json.SyntaxError:
		return fmt.Sprintf("no JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("field %q is no %v", e.Field, e.Type)
	}
	return "an unknown field, or a value that cannot be"
}
