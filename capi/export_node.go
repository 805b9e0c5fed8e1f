// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

// #include <utipc.h>
import "C"

import (
	"syscall"
	"unsafe"

	"github.com/utipc/utipc/capi/internal/calls"
)

//export utipcGoOpen
func utipcGoOpen(text, node, socket *C.char, timeout C.int) C.long {
	getenv := func(name string) string {
		if name == "UTIPC_NODE" {
			return C.GoString(node)
		}
		return C.GoString(socket)
	}
	return result(calls.Open(C.GoString(text), getenv, int(timeout)))
}

//export utipcGoClose
func utipcGoClose(handle, timeout C.int) C.long {
	return result(0, calls.Close(int32(handle), int(timeout)))
}

//export utipcGoNodeAddress
func utipcGoNodeAddress(node C.int, out *C.uint32_t) C.long {
	a, err := calls.NodeAddress(int32(node))
	return give(out, a, err)
}

//export utipcGoWaitNodes
func utipcGoWaitNodes(node, count, timeout C.int) C.long {
	return result(0, calls.WaitNodes(int32(node), int(count), int(timeout)))
}

//export utipcGoWaitPublished
func utipcGoWaitPublished(node, timeout C.int) C.long {
	return result(0, calls.WaitPublished(int32(node), int(timeout)))
}

//export utipcGoWaitName
func utipcGoWaitName(node C.int, name *C.utipc_addr, count, timeout C.int) C.long {
	return result(0, calls.WaitName(int32(node), addr(name), int(count), int(timeout)))
}

//export utipcGoResolve
func utipcGoResolve(node C.int, name, sockets *C.utipc_addr, room C.size_t, timeout C.int) C.long {
	var out []calls.Addr
	if room > 0 {
		if sockets == nil {
			return result(0, syscall.EFAULT)
		}
		out = unsafe.Slice(addr(sockets), min(uint64(room), maxLength))
	}
	return result(calls.Resolve(int32(node), addr(name), out, int(timeout)))
}

//export utipcGoCall
func utipcGoCall(node C.int, to *C.utipc_addr, request unsafe.Pointer, length C.size_t, answer unsafe.Pointer, size C.size_t, from *C.utipc_addr, timeout C.int) C.long {
	req, err := memory(request, length)
	if err != nil {
		return result(0, err)
	}
	resp, err := memory(answer, size)
	if err != nil {
		return result(0, err)
	}
	n, sender, err := calls.Call(int32(node), addr(to), req, resp, int(timeout))
	put(from, sender)
	return result(n, err)
}

//export utipcGoSubscribe
func utipcGoSubscribe(node C.int, name *C.utipc_addr, flags C.uint32_t) C.long {
	return result(calls.Subscribe(int32(node), addr(name), uint32(flags)))
}

//export utipcGoNext
func utipcGoNext(subscription C.int, out *C.utipc_event, timeout C.int) C.long {
	if out == nil {
		return result(0, syscall.EFAULT)
	}
	ev, err := calls.Next(int32(subscription), int(timeout))
	return give(out, ev, err)
}

//export utipcGoParse
func utipcGoParse(text *C.char, out *C.utipc_addr) C.long {
	if text == nil {
		return result(0, syscall.EFAULT)
	}
	a, err := calls.Parse(C.GoString(text))
	return give(out, a, err)
}

//export utipcGoFormat
func utipcGoFormat(a *C.utipc_addr, text unsafe.Pointer, size C.size_t) C.long {
	s, err := calls.Format(addr(a))
	if err != nil {
		return result(0, err)
	}
	b, err := memory(text, size)
	if err != nil {
		return result(0, err)
	}
	if len(b) > 0 {
		b[copy(b[:len(b)-1], s)] = 0
	}
	return result(len(s), nil)
}
