// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// Limits of an error on the wire.
const (
	maxErrorDepth = 8    // errors inside of errors; what is deeper is text
	maxErrorLen   = 8192 // bytes of JSON; of a longer one there is the text, cut
	maxErrorText  = 1024
)

// errErrorRecord means a record that tells of no error.
var errErrorRecord = errors.New("stack: not an error's record")

// A wireError is an error as a record of the daemon's socket has it. Kind is "text", the
// name of a sentinel, or one of those of errorKinds, with Fields of its own.
type wireError struct {
	Kind   string          `json:"kind"`
	Text   string          `json:"text,omitempty"`
	Fields json.RawMessage `json:"fields,omitempty"`
	// Network is that of an *engine.WrongNetworkError; the rest is an errno, for programs that are older.
	Network string       `json:"network,omitempty"`
	Err     *wireError   `json:"err,omitempty"`
	Errs    []*wireError `json:"errs,omitempty"`
}

// sentinels are the errors that are what they are by identity.
var sentinels = map[string]error{
	"closed":                net.ErrClosed,
	"deadline":              os.ErrDeadlineExceeded,
	"canceled":              context.Canceled,
	"context-deadline":      context.DeadlineExceeded,
	"eof":                   io.EOF,
	"unexpected-eof":        io.ErrUnexpectedEOF,
	"short-buffer":          io.ErrShortBuffer,
	"short-write":           io.ErrShortWrite,
	"not-exist":             os.ErrNotExist,
	"unreachable":           engine.ErrUnreachable,
	"too-long":              engine.ErrTooLong,
	"reserved":              engine.ErrReserved,
	"range":                 engine.ErrRange,
	"not-bound":             engine.ErrNotBound,
	"void":                  ErrVoid,
	"empty":                 ErrEmpty,
	"no-room":               ErrNoRoom,
	"name-taken":            engine.ErrNameTaken,
	"too-many-sockets":      engine.ErrSockets,
	"config":                engine.ErrConfig,
	"slow":                  engine.ErrSlow,
	"no-address":            ErrNoAddress,
	"too-many-subs":         engine.ErrTooManySubscriptions,
	"too-many-bindings":     engine.ErrTooManyBindings,
	"too-many-groups":       engine.ErrGroup,
	"memory":                engine.ErrMemory,
	"topology":              ErrTopology,
	"address":               frame.ErrAddress,
	"binding-exists":        naming.ErrRepeated,
	"bindings-of-node-full": naming.ErrNodeFull,
	"table-full":            naming.ErrTableFull,
	"inverted":              naming.ErrInverted,
	"congested":             flowctl.ErrCongested,
	"key":                   seal.ErrKey,
	"key-busy":              seal.ErrBusy,
	"no-key":                seal.ErrNoKey,
	"key-known":             seal.ErrDouble,
}

// What the errors with fields of their own have in theirs.
type (
	opFields struct {
		Op     string   `json:"op"`
		Net    string   `json:"net,omitempty"`
		Source wireAddr `json:"source"`
		Addr   wireAddr `json:"addr"`
	}
	blockedFields struct {
		Name               wireAddr
		Bound, Wanted      int `json:",omitempty"`
		Peer               frame.SocketAddr
		Blocks             bool
		Group              uint32
		Need, Acks, Behind int
		Node               frame.NodeAddr
		Bearer, Link       string
		Importance         frame.Importance
		Waiting, Limit     int
		Unacked, Window    int
		Ahead              int
		Daemon             bool
		Unanswered         bool   `json:",omitempty"`
		Away               string `json:",omitempty"`
		Blocked            time.Duration
	}
	connFields struct {
		Peer   frame.SocketAddr
		Reason string
		Code   frame.ErrorCode
	}
	unsentFields  struct{ Packets, Bytes int }
	memoryFields  struct{ Needed, Most int }
	membersFields struct {
		Joined, Wanted int
		Waited         time.Duration
	}
	callFields struct {
		To     wireAddr
		Waited time.Duration
		Callee frame.SocketAddr
	}
	silentFields struct {
		Node   frame.NodeAddr
		Link   string
		Waited time.Duration
	}
	topologyFields struct {
		Node   frame.NodeAddr
		Reason string
	}
	refusalFields struct {
		Errno  int
		Reason string
	}
	addrFields        struct{ Err, Addr string }
	lengthFields      struct{ Size, Most int }
	unreachableFields struct {
		Cause  string
		Bare   bool // the cause alone, without an UnreachableError
		Addr   wireAddr
		Waited time.Duration
	}
)

// encodeError is control.EncodeError.
func encodeError(err error) (syscall.Errno, []byte) {
	if err == nil {
		return 0, nil
	}
	b, failed := json.Marshal(wireOf(err, maxErrorDepth))
	if failed != nil || len(b) > maxErrorLen {
		b, _ = json.Marshal(wireError{Kind: "text", Text: cut(err.Error())})
	}
	return Errno(err), b
}

func init() { control.EncodeError, control.DecodeError = encodeError, decodeError }

func cut(s string) string { return s[:min(len(s), maxErrorText)] }

// wireOf is an error as it travels.
// Complex: one case for each kind of error.
//
//gocyclo:ignore
func wireOf(err error, depth int) *wireError {
	if name, ok := sentinelName(err); ok {
		return &wireError{Kind: name}
	}
	if depth == 0 {
		return &wireError{Kind: "text", Text: cut(err.Error())}
	}
	inner := func(err error) *wireError {
		if err == nil {
			return nil
		}
		return wireOf(err, depth-1)
	}
	with := func(kind string, fields any, err error) *wireError {
		b, _ := json.Marshal(fields) // plain fields: it cannot fail
		return &wireError{Kind: kind, Fields: b, Err: inner(err)}
	}
	switch e := err.(type) {
	case *net.OpError:
		return with("op", opFields{e.Op, e.Net, wireAddr{e.Source}, wireAddr{e.Addr}}, e.Err)
	case *BlockedError:
		return with("blocked", fieldsOfBlocked(e), e.Cause)
	case *engine.WrongNetworkError:
		w := with("errno", int(syscall.ECONNREFUSED), nil)
		w.Network = e.Listener
		return w
	case *ConnError:
		return with("conn", connFields{e.Peer, e.Reason, e.Code}, e.Err)
	case *MembersError:
		return with("members", membersFields{e.Joined, e.Wanted, e.Waited}, e.Err)
	case *CallError:
		return with("call", callFields{wireAddr{e.To}, e.Waited, e.Callee}, e.Err)
	case *SilentError:
		return with("silent", silentFields{e.Node, e.Link, e.Waited}, e.Err)
	case *TopologyError:
		return with("topology-service", topologyFields{e.Node, e.Reason}, e.Err)
	case *UnsentError:
		return with("unsent", unsentFields{e.Packets, e.Bytes}, e.Err)
	case *UnreachableError, *engine.Cause:
		return with("unreachable", unreachableOf(err), nil)
	case *engine.MemoryError, *engine.LengthError:
		kind, fields := limitOf(err)
		return with(kind, fields, nil)
	case *engine.NameTakenError:
		return with("name-taken", *e, nil)
	case *RejectError:
		return with("reject", *e, nil)
	case *admin.Refusal:
		return with("refusal", refusalFields{int(e.Errno), e.Reason}, e.Err)
	case *GoneError:
		return with("gone", *e, nil)
	case *net.AddrError:
		return with("addr", addrFields{e.Err, e.Addr}, nil)
	case net.UnknownNetworkError:
		return with("network", string(e), nil)
	case syscall.Errno:
		return with("errno", int(e), nil)
	}
	w := &wireError{Kind: "text", Text: cut(err.Error())}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		w.Err = inner(x.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			if e != nil && len(w.Errs) < maxErrorDepth {
				w.Errs = append(w.Errs, inner(e))
			}
		}
	}
	return w
}

// causes are the causes of what is unreachable. Programs that are older than these read
// "unreachable" alone.
var causes = map[string]error{
	"no-name": engine.ErrNoName, "no-node": engine.ErrNoNode, "no-link": engine.ErrNoLink,
	"no-member": engine.ErrNoMember, "evicted": engine.ErrEvicted,
}

func limitOf(err error) (kind string, fields any) {
	if e, ok := err.(*engine.LengthError); ok {
		return "too-long", lengthFields{e.Size, e.Most}
	}
	e := err.(*engine.MemoryError)
	return "memory-limit", memoryFields{e.Needed, e.Most}
}

func unreachableOf(err error) unreachableFields {
	if e, ok := err.(*UnreachableError); ok {
		return unreachableFields{causeName(e.Err), false, wireAddr{e.Addr}, e.Waited}
	}
	return unreachableFields{Cause: causeName(err), Bare: true}
}

// causeName is a cause's name, "" of ErrUnreachable itself.
func causeName(err error) string {
	for name, e := range causes {
		if err == e {
			return name
		}
	}
	return ""
}

// sentinelName is an error's name among the sentinels. They are compared one by one: an
// error of a type that cannot be is none, and no key of a map.
func sentinelName(err error) (name string, ok bool) {
	if err == engine.ErrClosed {
		err = net.ErrClosed
	}
	for name, e := range sentinels {
		if err == e {
			return name, true
		}
	}
	return "", false
}

func fieldsOfBlocked(e *BlockedError) blockedFields {
	return blockedFields{
		wireAddr{e.Name},
		e.Bound, e.Wanted,
		e.Peer, e.Blocks, e.Group, e.Need, e.Acks, e.Behind, e.Node, e.Bearer, e.Link,
		e.Importance, e.Waiting, e.Limit, e.Unacked, e.Window, e.Ahead, e.Daemon, e.Unanswered, e.Away, e.Blocked,
	}
}

func (f *blockedFields) error(cause error) *BlockedError {
	return &BlockedError{
		f.Name.Addr, f.Bound, f.Wanted, f.Peer, f.Blocks, f.Group, f.Need, f.Acks, f.Behind, f.Node, f.Bearer, f.Link,
		f.Importance, f.Waiting, f.Limit, f.Unacked, f.Window, f.Ahead, f.Daemon, f.Unanswered, f.Away, f.Blocked, cause,
	}
}
