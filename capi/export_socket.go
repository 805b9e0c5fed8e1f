// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

// #include <utipc.h>
import "C"

import (
	"unsafe"

	"github.com/utipc/utipc/capi/internal/calls"
)

//export utipcGoSocket
func utipcGoSocket(node, typ C.int, name *C.utipc_addr, o *C.utipc_options) C.long {
	return result(calls.OpenSocket(int32(node), int(typ), addr(name), options(o)))
}

//export utipcGoListen
func utipcGoListen(node, typ C.int, name *C.utipc_addr, o *C.utipc_options) C.long {
	return result(calls.Listen(int32(node), int(typ), addr(name), options(o)))
}

//export utipcGoAccept
func utipcGoAccept(listener, timeout C.int) C.long {
	return result(calls.Accept(int32(listener), int(timeout)))
}

//export utipcGoConnect
func utipcGoConnect(node, typ C.int, to *C.utipc_addr, o *C.utipc_options, timeout C.int) C.long {
	return result(calls.Connect(int32(node), int(typ), addr(to), options(o), int(timeout)))
}

//export utipcGoJoin
func utipcGoJoin(node C.int, group *C.utipc_addr, o *C.utipc_options) C.long {
	return result(calls.Join(int32(node), addr(group), options(o)))
}

//export utipcGoWaitMembers
func utipcGoWaitMembers(group, count, timeout C.int) C.long {
	return result(0, calls.WaitMembers(int32(group), int(count), int(timeout)))
}

//export utipcGoBind
func utipcGoBind(socket C.int, name *C.utipc_addr, scope C.int) C.long {
	return result(0, calls.Bind(int32(socket), addr(name), int(scope)))
}

//export utipcGoUnbind
func utipcGoUnbind(socket C.int, name *C.utipc_addr, scope C.int) C.long {
	return result(0, calls.Unbind(int32(socket), addr(name), int(scope)))
}

//export utipcGoLocal
func utipcGoLocal(socket C.int, out *C.utipc_addr) C.long {
	a, err := calls.Local(int32(socket))
	return give(out, a, err)
}

//export utipcGoRemote
func utipcGoRemote(socket C.int, out *C.utipc_addr) C.long {
	a, err := calls.Remote(int32(socket))
	return give(out, a, err)
}

//export utipcGoShutdown
func utipcGoShutdown(connection C.int) C.long {
	return result(0, calls.Shutdown(int32(connection)))
}

//export utipcGoSend
func utipcGoSend(socket C.int, data unsafe.Pointer, length C.size_t, to *C.utipc_addr, timeout C.int) C.long {
	b, err := memory(data, length)
	if err != nil {
		return result(0, err)
	}
	return result(calls.Send(int32(socket), b, addr(to), int(timeout)))
}

//export utipcGoRecv
func utipcGoRecv(socket C.int, data unsafe.Pointer, size C.size_t, info *C.utipc_info, timeout C.int) C.long {
	b, err := memory(data, size)
	if err != nil {
		return result(0, err)
	}
	n, i, err := calls.Receive(int32(socket), b, int(timeout))
	put(info, i)
	return result(n, err)
}

//export utipcGoFD
func utipcGoFD(handle C.int) C.long {
	return result(calls.FD(int32(handle)))
}
