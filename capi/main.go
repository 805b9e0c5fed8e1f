// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

/*
#include <utipc.h>
#include <note.h>
*/
import "C"

import (
	"io"
	"syscall"
	"unsafe"

	"github.com/utipc/utipc/capi/internal/calls"
	_ "github.com/utipc/utipc/xdp" // for "eth:"
)

// maxLength is the most bytes that a call may name.
const maxLength = 1 << 40

// result is what a C function returns: what it found, or a negative errno with its sentence noted.
func result[N ~int | ~int32](n N, err error) C.long {
	if err == nil {
		return C.long(n)
	}
	if err == io.EOF {
		return 0
	}
	text := err.Error()
	C.utipcNote((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	return -C.long(calls.Errno(err))
}

// memory is that of a program. Errors: EFAULT of a NULL that is not empty, EINVAL.
func memory(p unsafe.Pointer, length C.size_t) ([]byte, error) {
	switch {
	case length > maxLength:
		return nil, syscall.EINVAL
	case length == 0:
		return nil, nil
	case p == nil:
		return nil, syscall.EFAULT
	}
	return unsafe.Slice((*byte)(p), int(length)), nil
}

func addr(p *C.utipc_addr) *calls.Addr          { return (*calls.Addr)(unsafe.Pointer(p)) }
func options(p *C.utipc_options) *calls.Options { return (*calls.Options)(unsafe.Pointer(p)) }

// put fills in what the program wants to have; out may be NULL.
func put[To, Value any](out *To, value Value) {
	if out != nil {
		*(*Value)(unsafe.Pointer(out)) = value
	}
}

// give is put where the value is all that the program has asked for. Errors: EFAULT of a NULL.
func give[To, Value any](out *To, value Value, err error) C.long {
	if err == nil && out == nil {
		err = syscall.EFAULT
	}
	if err == nil {
		put(out, value)
	}
	return result(0, err)
}

// The types of both sides have the same size; the test of the C program compares the fields.
var (
	_ [unsafe.Sizeof(calls.Addr{})]struct{}    = [C.sizeof_utipc_addr]struct{}{}
	_ [unsafe.Sizeof(calls.Info{})]struct{}    = [C.sizeof_utipc_info]struct{}{}
	_ [unsafe.Sizeof(calls.Event{})]struct{}   = [C.sizeof_utipc_event]struct{}{}
	_ [unsafe.Sizeof(calls.Options{})]struct{} = [C.sizeof_utipc_options]struct{}{}
)

func main() {}
