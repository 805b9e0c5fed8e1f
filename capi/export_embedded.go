// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

// #include <embedded.h>
import "C"

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/utipc/utipc/capi/internal/embedded"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// own is the node of the preload library; there is one in a process.
var (
	own     atomic.Pointer[embedded.Node]
	opening sync.Mutex
)

//export utipcGoEmbeddedOpen
func utipcGoEmbeddedOpen(text *C.char, node *C.uint32_t) C.long {
	opening.Lock()
	defer opening.Unlock()
	if own.Load() == nil {
		n, err := embedded.Open(C.GoString(text))
		if err != nil {
			return result(0, err)
		}
		own.Store(n)
	}
	*node = C.uint32_t(own.Load().Address())
	return 0
}

//export utipcGoEmbeddedFinish
func utipcGoEmbeddedFinish(ms C.int) C.long {
	n := own.Load()
	if n == nil {
		return 0
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer stop()
	return result(0, n.Close(ctx))
}

// errno is what a function of embedded.h returns: no sentence is noted, as these errors are many and meant.
func errno[N ~int | ~int32](n N, err error) C.long {
	if err == nil {
		return C.long(n)
	}
	if e, ok := err.(syscall.Errno); ok {
		return -C.long(e)
	}
	return -C.long(stack.Errno(err))
}

func tcpAddr(a *C.struct_utipc_embedded_at) tcpwire.Addr {
	return tcpwire.Addr{IP: uint32(a.ip), Port: uint16(a.port)}
}

//export utipcGoEmbeddedListen
func utipcGoEmbeddedListen(at *C.struct_utipc_embedded_at, backlog C.int) C.long {
	h, s, err := own.Load().Listen(tcpAddr(at), int(backlog))
	at.node, at.ref = C.uint32_t(s.Node), C.uint32_t(s.Port)
	return errno(h, err)
}

//export utipcGoEmbeddedAccept
func utipcGoEmbeddedAccept(listener C.int, from *C.struct_utipc_embedded_at) C.long {
	a, err := own.Load().Accept(int32(listener))
	from.ip, from.port, from.node = C.uint32_t(a.From.IP), C.uint32_t(a.From.Port), C.uint32_t(a.Node)
	return errno(a.Handle, err)
}

//export utipcGoEmbeddedConnect
func utipcGoEmbeddedConnect(from, to *C.struct_utipc_embedded_at) C.long {
	at := stack.SocketAddr{Port: uint32(to.ref), Node: stack.NodeAddr(to.node)}
	return C.long(own.Load().Connect(at, tcpAddr(from), tcpAddr(to)))
}

//export utipcGoEmbeddedPoll
func utipcGoEmbeddedPoll(handles *C.int32_t, ready *C.uint16_t, n, turn C.int) C.long {
	own.Load().Poll(unsafe.Slice((*int32)(handles), int(n)), unsafe.Slice((*uint16)(ready), int(n)), turn != 0)
	return 0
}

//export utipcGoEmbeddedArm
func utipcGoEmbeddedArm() C.long { return errno(own.Load().Arm()) }

//export utipcGoEmbeddedDisarm
func utipcGoEmbeddedDisarm(fd C.int) C.long {
	own.Load().Disarm(int(fd))
	return 0
}

// fewParts is how many parts of a message cost no memory.
const fewParts = 16

// parts are those of a program's message.
func parts(room *[fewParts][]byte, v *C.struct_iovec, n C.int) [][]byte {
	all := room[:0]
	for _, p := range unsafe.Slice(v, int(n)) {
		if p.iov_len > 0 {
			all = append(all, unsafe.Slice((*byte)(p.iov_base), int(p.iov_len)))
		}
	}
	return all
}

//export utipcGoEmbeddedSend
func utipcGoEmbeddedSend(handle C.int, v *C.struct_iovec, n C.int) C.long {
	var room [fewParts][]byte
	return errno(own.Load().Send(int32(handle), parts(&room, v, n)))
}

//export utipcGoEmbeddedRecv
func utipcGoEmbeddedRecv(handle C.int, v *C.struct_iovec, n, peek C.int) C.long {
	var room [fewParts][]byte
	return errno(own.Load().Receive(int32(handle), parts(&room, v, n), peek != 0))
}

//export utipcGoEmbeddedError
func utipcGoEmbeddedError(handle C.int) C.long { return errno(own.Load().Error(int32(handle))) }

//export utipcGoEmbeddedShutdown
func utipcGoEmbeddedShutdown(handle, how C.int) C.long {
	return errno(own.Load().Shutdown(int32(handle), how != syscall.SHUT_WR, how != syscall.SHUT_RD))
}

//export utipcGoEmbeddedClose
func utipcGoEmbeddedClose(handle, abort C.int) C.long {
	return errno(own.Load().CloseSocket(int32(handle), abort != 0))
}

//export utipcGoEmbeddedCounters
func utipcGoEmbeddedCounters(c *C.struct_utipc_embedded_counters) C.long {
	connections, in, out := own.Load().Counters()
	c.connections, c.in, c.out = C.uint64_t(connections), C.uint64_t(in), C.uint64_t(out)
	return 0
}
