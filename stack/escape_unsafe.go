// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"math"
	"runtime"
	"unsafe"
)

// filled returns b for a call of a backend that fills it and does not keep it. The compiler
// does not know which method an interface calls, so it believes that the method keeps what it
// is given, and a caller's buffer on the stack would cost an allocation for each read. What is
// returned is b without that flow. It is true to the facts as long as no backend's method
// lets its argument escape, which TestReadsKeepNoBuffer asks the compiler.
func filled(b []byte) []byte { return hidden(b) }

// lentBatch is filled for the messages of a batch, whose Data and Addr are kept.
func lentBatch(ms []Message) []Message {
	if len(ms) == math.MaxInt {
		kept = ms[0] // it never comes so far: it tells the compiler what is kept
	}
	return hidden(ms)
}

//lint:ignore U1000 the compiler is to see an assignment
var kept Message

// hidden returns s, of which the compiler does not know that it is s: its pointer is copied as
// a number. One word is, as three would wait for each other in the store buffer.
func hidden[T any](s []T) []T {
	p := unsafe.SliceData(s)
	var same *T
	*(*uintptr)(unsafe.Pointer(&same)) = *(*uintptr)(unsafe.Pointer(&p))
	runtime.KeepAlive(p)
	return unsafe.Slice(same, len(s))
}
