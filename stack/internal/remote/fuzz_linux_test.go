// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
)

// records cuts data into datagrams: a byte says how the next begins.
func records(data []byte) (all [][]byte) {
	for len(data) > 1 && len(all) < 64 {
		k := min(int(data[1]), len(data)-2)
		b := data[2 : 2+k]
		if data[0] < 250 { // a record as it should be, with an op and flags of its own
			h := attach.Header{Op: attach.Op(data[0]), ID: 1}
			if len(b) >= 8 {
				h.Flags = attach.Flags(b[0])
				h.ID, h.Arg0, h.Arg1 = uint32(b[1]), uint32(b[2]), uint32(b[3])
				h.Addr = attach.Sockaddr{Family: attach.AFTIPC, Type: b[4], A: uint32(b[5]), B: uint32(b[6])}
				h.Errno = unix.Errno(b[7])
				b = b[8:]
			}
			b, _ = h.Append(nil, b)
		}
		all = append(all, b)
		data = data[2+k:]
	}
	return all
}

// Whatever comes from what should be the daemon ends in messages, answers and errors.
func FuzzClientConn(f *testing.F) {
	seed := func(ops ...attach.Op) (b []byte) {
		for _, op := range ops {
			b = append(b, byte(op), 12, 1, 1, 0, 0, attach.TypeSocket, 1, 1, 0, 'd', 'a', 't', 'a')
		}
		return b
	}
	f.Add(seed(attach.OpMessage, attach.OpCall, attach.OpEnd))
	f.Add(seed(attach.OpEvent, attach.OpFailed, attach.OpGone))
	f.Add(binary.NativeEndian.AppendUint64([]byte{255, 8}, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, fd, err := attach.Pair()
		if err != nil {
			t.Skip(err)
		}
		l := newClientConn(c)
		l.socket = &Socket{network: "tipcrdm"}
		l.socket.reports.returns.Store(len(data)%2 != 0)
		for _, b := range records(data) {
			unix.Send(fd, b, 0)
		}
		unix.Shutdown(fd, unix.SHUT_WR)
		defer unix.Close(fd)
		defer l.close()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			l.ask(ctx, attach.Header{Op: attach.OpCall}, []byte("links\x00"))
		}()
		cur := &session{line: l}
		stream := &Conn{stream: true}
		buf := make([]byte, 3)
		for i := 0; ; i++ {
			err := l.next(ctx, true, func(r *clientRecord) (done bool) {
				switch i % 3 {
				case 0:
					var m backend.Envelope
					cur.message(r, buf, nil, &m)
					return true
				case 1:
					_, _, done = stream.took(r, buf)
					return done
				}
				_, bad := eventOf(r)
				return bad != nil || len(r.data) == 0
			})
			if ctx.Err() != nil {
				t.Fatal("it hangs")
			}
			if err != nil && l.isOver() {
				break
			}
		}
		<-asked
		for {
			r, ok := l.socket.reports.take()
			if !ok {
				break
			}
			if r.Err.Error() == "" || r.Seq != 0 { // none was sent
				t.Errorf("got %+v", r)
			}
		}
	})
}

func (l *clientConn) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over != nil
}
