// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/socket"
)

// What a daemon delivers after it has said that it ends is read before its end is, whose reason
// is what it has said; an errno is of this socket alone. The mutation: take ends the line with
// the record OpGone.
func TestDeliveredBeforeGoneIsRead(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		0:              "the daemon is gone: the machine stops",
		syscall.EPROTO: "the daemon has ended this socket: the machine stops",
	} {
		s, daemon := closeBed(t, false)
		for _, r := range []struct {
			op   attach.Op
			data string
		}{{attach.OpMessage, "before"}, {attach.OpGone, "the machine stops"}, {attach.OpMessage, "after"}} {
			h := attach.Header{Op: r.op}
			if r.op == attach.OpGone {
				h.Errno = errno
			}
			if err := daemon.Write(&h, []byte(r.data)); err != nil {
				t.Fatal(err)
			}
		}
		daemon.Close()
		read := func() (got string, err error) {
			err = s.line().next(context.Background(), false, func(r *clientRecord) bool {
				got = string(r.data)
				return true
			})
			return got, err
		}
		for _, message := range []string{"before", "after"} {
			if got, err := read(); err != nil || got != message {
				t.Errorf("got %q, %v, want %q", got, err, message)
			}
		}
		var gone *socket.GoneError
		if _, err := read(); !errors.As(err, &gone) || gone.Error() != want || gone.Errno != errno || errno != 0 && !errors.Is(err, errno) {
			t.Errorf("then got %v, want %s", err, want)
		}
	}
}
