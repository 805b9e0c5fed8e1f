// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// options are what a socket was set to. Source: docs/spec/07-sockets.md §8.4.
type options struct {
	importance    stack.Importance
	srcDroppable  bool
	destDroppable bool
	noDelay       bool
	timeoutSet    bool
	connTimeout   uint16 // milliseconds
	group         uint32 // that it is in, 0: in none
}

// optGroup is TIPC_GROUP_JOIN.
const optGroup = 135

// defaultTimeout is TIPC_CONN_TIMEOUT in milliseconds.
const defaultTimeout = 8000

// config is what a connection is made with.
func (o *options) config() stack.SocketConfig {
	return stack.SocketConfig{Importance: o.importance, NoDelay: o.noDelay}
}

// timeout is for how long a connect waits.
func (o *options) timeout() time.Duration {
	return time.Duration(max(o.milliseconds(), 4)) * time.Millisecond
}

func (o *options) milliseconds() uint16 {
	if !o.timeoutSet {
		return defaultTimeout
	}
	return o.connTimeout
}

// set sets options, in their order, up to the first that cannot be.
func (o *options) set(kind attach.Kind, data []byte) error {
	list, err := attach.ParseOptions(data, nil)
	if err != nil {
		return syscall.EINVAL
	}
	for _, p := range list {
		switch v := p.Value; p.Name {
		case attach.OptImportance:
			if v < 0 || v > int64(stack.Critical) {
				return syscall.EINVAL
			}
			o.importance = stack.Importance(v)
		case attach.OptSrcDroppable:
			if kind == attach.KindStream {
				return syscall.ENOPROTOOPT
			}
			o.srcDroppable = v != 0
		case attach.OptDestDroppable:
			o.destDroppable = v != 0
		case attach.OptConnTimeout:
			o.timeoutSet, o.connTimeout = true, uint16(v&math.MaxUint16)
		case attach.OptBroadcast, attach.OptReplicast:
			if v != 0 {
				return syscall.EINVAL
			}
		case attach.OptNoDelay:
			o.noDelay = v != 0
		default:
			return syscall.EINVAL
		}
	}
	return nil
}

// get returns the values of options.
func (o *options) get(data []byte) (values []byte, err error) {
	list, err := attach.ParseOptions(data, nil)
	if err != nil {
		return nil, syscall.EINVAL
	}
	for _, p := range list {
		var v int64
		switch p.Name {
		case attach.OptImportance:
			v = int64(o.importance)
		case attach.OptSrcDroppable:
			v = number(o.srcDroppable)
		case attach.OptDestDroppable:
			v = number(o.destDroppable)
		case attach.OptConnTimeout:
			v = int64(o.milliseconds())
		case optGroup:
			v = int64(o.group)
		case attach.OptNodeRecvQueue, attach.OptSockRecvQueue, attach.OptRecvQueueUsed:
		default:
			return nil, syscall.EINVAL
		}
		values = attach.AppendOption(values, p.Name, v)
	}
	return values, nil
}

func number(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// setOptions sets options of the socket.
func (x *socket) setOptions(data []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := x.options.noDelay
	err := x.options.set(x.kind, data)
	switch {
	case x.conn != nil && x.options.noDelay != was:
		_ = x.conn.SetNoDelay(x.options.noDelay) // fails of a connection that has ended
	case x.packets != nil:
		x.options.apply(x.packets)
	}
	return err
}

// optionsNow are the options of the socket, of which c is the connection, or nil. The socket is locked.
func (x *socket) optionsNow(c *stack.Conn) options {
	o := x.options
	if c != nil {
		o.importance = c.Importance()
	}
	return o
}

// getOptions returns options of the socket.
func (x *socket) getOptions(data []byte) (a Answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.optionsNow(x.conn)
	a.FD = -1
	a.Data, a.Err = o.get(data)
	return a
}
