// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"bytes"
	"encoding/json"
	"net"
	"syscall"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A remoteError is an error of the daemon's of which there is the text, and what it wraps.
type remoteError struct {
	text string
	errs []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.errs }

// decodeError is control.DecodeError.
func decodeError(errno syscall.Errno, b []byte) (told, err error) {
	if len(b) == 0 {
		if errno == 0 {
			return nil, nil
		}
		return errno, nil
	}
	var w wireError
	if len(b) > maxErrorLen || json.Unmarshal(printableTexts(b), &w) != nil {
		return errnoOr(errno), errErrorRecord
	}
	if told, err = w.error(maxErrorDepth); err != nil {
		return errnoOr(errno), err
	}
	return told, nil
}

// printableTexts makes all texts of an error record printable: an error is logged, and a
// newline in it would begin a line that nobody logged. Only the text of an error that wraps
// others keeps its newlines. What is no JSON stays as it is.
func printableTexts(b []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if bytes.IndexByte(b, '\\') < 0 && printable.Text(b) == string(b) || !json.Valid(b) || d.Decode(&v) != nil {
		return b // no character is written as an escape
	}
	out, _ := json.Marshal(printableValue(v)) // it was JSON
	return out
}

func printableValue(v any) any {
	switch v := v.(type) {
	case string:
		return printable.Text(v)
	case []any:
		for i := range v {
			v[i] = printableValue(v[i])
		}
	case map[string]any:
		for k, x := range v {
			if text, ok := x.(string); ok && k == "text" && (v["err"] != nil || v["errs"] != nil) {
				v[k] = string(printable.Append(nil, text, "\n")) // as errors.Join has it
				continue
			}
			v[k] = printableValue(x)
		}
	}
	return v
}

// errnoOr is errno, or EPROTO where that says nothing.
func errnoOr(errno syscall.Errno) error {
	if errno == 0 {
		return syscall.EPROTO
	}
	return errno
}

// error is the error that the record tells of. Errors: errErrorRecord.
func (w *wireError) error(depth int) (told, err error) {
	if e, ok := sentinels[w.Kind]; ok && len(w.Fields) == 0 {
		return e, nil
	}
	switch {
	case depth < 0 || len(w.Errs) > maxErrorDepth:
		return nil, errErrorRecord
	case w.Network != "":
		return &engine.WrongNetworkError{Listener: cut(w.Network)}, nil
	}
	var inner error
	if w.Err != nil {
		if inner, err = w.Err.error(depth - 1); err != nil {
			return nil, err
		}
	}
	if w.Kind == "text" {
		return w.remoteError(inner, depth)
	}
	kind, ok := errorKinds[w.Kind]
	if !ok {
		return nil, errErrorRecord
	}
	if told = kind(w.Fields, inner); told == nil {
		return nil, errErrorRecord
	}
	return told, nil
}

func (w *wireError) remoteError(inner error, depth int) (error, error) {
	e := &remoteError{text: cut(w.Text)}
	if inner != nil {
		e.errs = append(e.errs, inner)
	}
	for _, x := range w.Errs {
		if x == nil {
			return nil, errErrorRecord
		}
		inner, err := x.error(depth - 1)
		if err != nil {
			return nil, err
		}
		e.errs = append(e.errs, inner)
	}
	return e, nil
}

// errorKinds makes the errors that have fields of their own; nil where the fields are
// none, or what must be inside is not.
var errorKinds = map[string]func(b json.RawMessage, inner error) error{
	"op": kind(func(f opFields, inner error) error {
		return &net.OpError{Op: f.Op, Net: f.Net, Source: f.Source.Addr, Addr: f.Addr.Addr, Err: inner}
	}, true),
	"blocked": kind(func(f blockedFields, inner error) error { return f.error(inner) }, false),
	"conn": kind(func(f connFields, inner error) error {
		return &ConnError{Peer: f.Peer, Reason: f.Reason, Code: f.Code, Err: inner}
	}, true),
	"members": kind(func(f membersFields, inner error) error {
		return &MembersError{f.Joined, f.Wanted, f.Waited, inner}
	}, true),
	"call": kind(func(f callFields, inner error) error { return &CallError{f.To.Addr, f.Waited, f.Callee, inner} }, true),
	"silent": kind(func(f silentFields, inner error) error {
		return &SilentError{f.Node, f.Link, f.Waited, inner}
	}, true),
	"topology-service": kind(func(f topologyFields, inner error) error {
		return &TopologyError{f.Node, f.Reason, inner}
	}, true),
	"unsent": kind(func(f unsentFields, inner error) error { return &UnsentError{f.Packets, f.Bytes, inner} }, true),
	"unreachable": kind(func(f unreachableFields, _ error) error {
		cause := causes[f.Cause]
		switch {
		case cause == nil:
			cause = engine.ErrUnreachable // or a newer daemon's word
		case f.Bare:
			return cause
		}
		return &UnreachableError{f.Addr.Addr, f.Waited, cause}
	}, false),
	"too-long":     kind(func(f lengthFields, _ error) error { return &engine.LengthError{Size: f.Size, Most: f.Most} }, false),
	"memory-limit": kind(func(f memoryFields, _ error) error { return &engine.MemoryError{Needed: f.Needed, Most: f.Most} }, false),
	"name-taken":   kind(func(f engine.NameTakenError, _ error) error { return &f }, false),
	"reject":       kind(func(f RejectError, _ error) error { return &f }, false),
	"refusal": kind(func(f refusalFields, inner error) error {
		return &admin.Refusal{Errno: syscall.Errno(f.Errno), Reason: f.Reason, Err: inner}
	}, false),
	"gone":    kind(func(f GoneError, _ error) error { return &f }, false),
	"addr":    kind(func(f addrFields, _ error) error { return &net.AddrError{Err: f.Err, Addr: f.Addr} }, false),
	"network": kind(func(name string, _ error) error { return net.UnknownNetworkError(name) }, false),
	"errno":   kind(func(e int, _ error) error { return syscall.Errno(e) }, false),
}

// kind reads fields of a type for build; wraps says that there must be an error inside.
func kind[F any](build func(f F, inner error) error, wraps bool) func(json.RawMessage, error) error {
	return func(b json.RawMessage, inner error) error {
		var f F
		if json.Unmarshal(b, &f) != nil || wraps && inner == nil {
			return nil
		}
		return build(f, inner)
	}
}
