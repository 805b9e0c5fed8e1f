// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

func someErrors() []error {
	socket := frame.SocketAddr{Port: 5, Node: 0x1001002}
	conn := &ConnError{Peer: socket, Reason: "refused", Code: frame.NoPort, Err: syscall.ECONNREFUSED}
	all := []error{
		&net.OpError{Op: "write", Net: "tipcrdm", Source: socket, Addr: frame.Service{Type: 18888, Instance: 17}, Err: engine.ErrUnreachable},
		&net.OpError{Op: "close", Net: "tipc", Err: &UnsentError{7, 5000, context.DeadlineExceeded}},
		&BlockedError{Name: frame.Service{Type: 18888, Instance: 17}, Blocked: time.Second},
		&BlockedError{
			Peer: socket, Blocks: true, Group: 4242, Need: 3, Acks: 1, Behind: 2, Node: 0x1001002, Bearer: "eth0", Link: "l",
			Importance: frame.High, Waiting: 5, Limit: 6, Unacked: 7, Window: 8, Ahead: 9, Unanswered: true, Blocked: time.Minute, Cause: context.Canceled,
		},
		conn,
		&ConnError{Peer: socket, Reason: "contact lost", Err: engine.ErrUnreachable},
		&MembersError{1, 3, time.Second, net.ErrClosed},
		&CallError{frame.Range{Type: 18888, Upper: 4}, time.Second, frame.SocketAddr{Port: 3, Node: 7}, context.DeadlineExceeded},
		&SilentError{0x1001002, "l", time.Second, context.Canceled},
		&TopologyError{0x1001002, "it said nothing", os.ErrDeadlineExceeded},
		&RejectError{frame.NoName, frame.SocketAddr{Node: 3}, frame.Service{Type: 18888, Instance: 1}},
		&admin.Refusal{Errno: syscall.EINVAL, Reason: "Already enabled.", Err: engine.ErrConfig}, &admin.Refusal{Errno: syscall.EBUSY}, &engine.MemoryError{Needed: 50, Most: 32}, &GoneError{"it was told to", true, syscall.EPROTO},
		&net.AddrError{Err: "missing address", Addr: "x"},
		net.UnknownNetworkError("tcp"), syscall.EBUSY,
	}
	for _, e := range sentinels {
		all = append(all, e)
	}
	for _, e := range causes {
		all = append(all, e, &UnreachableError{frame.Service{Type: 400, Instance: 1}, time.Second, e}, &UnreachableError{Err: e})
	}
	all = append(all, &engine.WrongNetworkError{Listener: "tipc"}, &ConnError{Peer: socket, Reason: "refused", Code: frame.NoPort, Err: &engine.WrongNetworkError{Listener: "tipcpacket"}})
	return append(all, &UnreachableError{Addr: socket, Err: engine.ErrUnreachable}, &engine.LengthError{Size: 70000, Most: 66000})
}

// Proves: daemon.calls
func TestErrorsOnTheWire(t *testing.T) {
	for _, want := range someErrors() {
		errno, b := encodeError(want)
		got, err := decodeError(errno, b)
		if err != nil || !reflect.DeepEqual(got, want) || got.Error() != want.Error() {
			t.Errorf("got %#v, %v, want %#v", got, err, want)
		}
		if errno == 0 {
			t.Errorf("%v has no errno", want)
		}
		wrapped := fmt.Errorf("tell node 1: %w", errors.Join(want, fmt.Errorf("beside %w", engine.ErrSlow)))
		errno, b = encodeError(wrapped)
		if got, err = decodeError(errno, b); err != nil || got.Error() != wrapped.Error() || !errors.Is(got, engine.ErrSlow) {
			t.Errorf("%v: got %v, %v", wrapped, got, err)
		}
	}
}

// errors.Is finds in what arrives whatever it finds in what was sent.
//
// Proves: daemon.calls
func TestErrorsKeepTheirMeaning(t *testing.T) {
	meanings := []error{
		net.ErrClosed, os.ErrDeadlineExceeded, context.Canceled, context.DeadlineExceeded, engine.ErrUnreachable, engine.ErrTooLong,
		syscall.EMSGSIZE, syscall.ECONNRESET, syscall.ECONNREFUSED, os.ErrPermission, os.ErrNotExist, engine.ErrConfig,
	}
	for _, e := range append(someErrors(), syscall.EPERM, syscall.ENOENT, engine.ErrClosed) {
		errno, b := encodeError(e)
		got, err := decodeError(errno, b)
		if err != nil {
			t.Errorf("%v: %v", e, err)
		}
		for _, m := range meanings {
			if errors.Is(e, m) && !errors.Is(got, m) || e != engine.ErrClosed && errors.Is(got, m) != errors.Is(e, m) {
				t.Errorf("%v: is it %v? got %v", e, m, errors.Is(got, m))
			}
		}
		var before, after net.Error
		if e != engine.ErrClosed && (errors.As(e, &before) != errors.As(got, &after) || before != nil && before.Timeout() != after.Timeout()) {
			t.Errorf("%v: another answer to Timeout", e)
		}
	}
}

// A program that is older than WrongNetworkError reads it as syscall.ECONNREFUSED.
//
// Mutation it catches: it is a kind of its own.
func TestWrongNetworkForOlderPrograms(t *testing.T) {
	errno, b := encodeError(&ConnError{Reason: "refused", Err: &engine.WrongNetworkError{Listener: "tipc"}})
	b = bytes.Replace(b, []byte(`"network"`), []byte(`"not-known"`), 1)
	got, err := decodeError(errno, b)
	if err != nil || !errors.Is(got, syscall.ECONNREFUSED) || got.Error() != "refused: connection refused" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestErrnos(t *testing.T) {
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{nil, 0},
		{engine.ErrTooLong, syscall.EMSGSIZE},
		{engine.ErrUnreachable, syscall.EHOSTUNREACH},
		{&net.OpError{Op: "write", Net: "tipc", Err: &BlockedError{}}, syscall.EAGAIN},
		{&BlockedError{Cause: context.Canceled}, syscall.ECANCELED},
		{&ConnError{Err: engine.ErrUnreachable}, syscall.ECONNRESET},
		{&ConnError{Err: os.ErrDeadlineExceeded}, syscall.ETIMEDOUT},
		{&ConnError{Err: syscall.EPIPE}, syscall.EPIPE},
		{&RejectError{}, syscall.ECONNREFUSED},
		{errors.New("?"), syscall.EIO},
		{net.UnknownNetworkError("x"), syscall.EPROTONOSUPPORT},
		{engine.ErrClosed, syscall.EIO},
		{net.ErrClosed, syscall.EBADF},
	} {
		if got := Errno(c.err); got != c.want {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}

// What is long, deep or of many is cut, and stays an error.
func TestErrorsHaveLimits(t *testing.T) {
	deep := error(engine.ErrSlow)
	for range 100 {
		deep = fmt.Errorf("in %w", deep)
	}
	many := errors.Join(slicesOf(engine.ErrSlow, 1000)...)
	for _, e := range []error{deep, many, errors.New(strings.Repeat("x", 1<<20)), &ConnError{Reason: strings.Repeat("x", 1<<20), Err: engine.ErrSlow}, uncomparable{"a"}} {
		errno, b := encodeError(e)
		if got, err := decodeError(errno, b); err != nil || got == nil || len(b) > maxErrorLen || len(got.Error()) > 2*maxErrorText {
			t.Errorf("%.40s: %d bytes, %v", e, len(b), err)
		}
	}
	if got, err := decodeError(syscall.EPERM, nil); got != syscall.EPERM || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, b := range []string{"x", "{}", `{"kind":"conn"}`, `{"kind":"op","fields":{}}`, `{"kind":"text","errs":[null]}`, `{"kind":"op","fields":{"addr":7},"err":{"kind":"eof"}}`} {
		if got, err := decodeError(0, []byte(b)); err != errErrorRecord || got != syscall.EPROTO {
			t.Errorf("%s: got %v, %v", b, got, err)
		}
	}
}

// What is in a text that came from elsewhere begins no line of a log, in the daemon's errors,
// those of handlers, and without an escape in the JSON.
//
// Mutations it catches: DecodeError without printableTexts; printableValue without one of its
// cases; PanicError's text without Printable.
func TestErrorsArePrintable(t *testing.T) {
	const forged = "gone\nlevel=INFO msg=forged\u009b\u202e\x7f"
	for _, e := range []error{
		errors.New(forged), &GoneError{Reason: forged}, &admin.Refusal{Errno: syscall.EINVAL, Reason: forged, Err: errors.New(forged)},
		&ConnError{Reason: forged, Err: errors.New(forged)}, &TopologyError{1, forged, syscall.EPERM},
		&net.OpError{Op: forged, Net: forged, Err: &net.AddrError{Err: forged, Addr: forged}}, net.UnknownNetworkError(forged),
	} {
		errno, b := encodeError(e)
		if got, err := decodeError(errno, b); err != nil || got.Error() != printable.Text(got.Error()) || !strings.Contains(got.Error(), `gone\nlevel`) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	errno, b := encodeError(errors.Join(errors.New(forged), engine.ErrSlow))
	if got, err := decodeError(errno, b); err != nil || string(printable.Append(nil, got.Error(), "\n")) != got.Error() || !errors.Is(got, engine.ErrSlow) {
		t.Errorf("joined: got %q, %v", got, err)
	}
	raw := []byte("{\"kind\":\"gone\",\"fields\":{\"Reason\":\"\u009b\"}}")
	if got, err := decodeError(0, raw); err != nil || got.Error() != printable.Text(got.Error()) {
		t.Errorf("got %q, %v", got, err)
	}
	if got := (&PanicError{Value: errors.New(forged)}).Error(); got != printable.Text(got) {
		t.Errorf("got %q", got)
	}
}

// An uncomparable is an error that == panics for.
type uncomparable []string

func (u uncomparable) Error() string { return u[0] }

func slicesOf(err error, k int) (all []error) {
	for range k {
		all = append(all, err)
	}
	return all
}

func FuzzErrorRecord(f *testing.F) {
	for _, e := range someErrors() {
		_, b := encodeError(e)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		told, err := decodeError(0, b)
		if told == nil && len(b) > 0 {
			t.Fatal("neither an error nor none")
		}
		if err != nil || told == nil {
			return
		}
		text := told.Error()
		errno, again := encodeError(told)
		back, err := decodeError(errno, again)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if len(text) < maxErrorText && len(again) < maxErrorLen/2 && back.Error() != text {
			t.Fatalf("got %q, want %q", back, text)
		}
	})
}
