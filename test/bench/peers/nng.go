// SPDX-License-Identifier: Apache-2.0

//go:build !nonng

package main

// #cgo LDFLAGS: -lnng
// #include <nng/nng.h>
// #include <nng/protocol/pipeline0/pull.h>
// #include <nng/protocol/pipeline0/push.h>
// #include <nng/protocol/reqrep0/rep.h>
// #include <nng/protocol/reqrep0/req.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

func openNNG(o worker.Open) (load.Load, error) {
	return openQueues(o, 5, &queueEnd{
		socket:   newNNG,
		end:      func() error { return nil },
		settings: fmt.Sprintf("nng %s: NODELAY (nng's own), threads of its own choice; REQ and REP, PUSH and PULL", C.GoString(C.nng_version())),
	})
}

// An nngSocket is a socket whose calls wait for no longer than look; a request for answerLimit.
type nngSocket struct {
	s C.nng_socket
	b []byte // what was received last
}

func newNNG(p pattern) (queueSocket, error) {
	n := &nngSocket{}
	var code C.int
	switch p {
	case request:
		code = C.nng_req0_open(&n.s)
	case reply:
		code = C.nng_rep0_open(&n.s)
	case push:
		code = C.nng_push0_open(&n.s)
	case pull:
		code = C.nng_pull0_open(&n.s)
	}
	if err := nngError(code); err != nil {
		return nil, err
	}
	answerBy := look
	if p == request {
		answerBy = answerLimit
	}
	err := errors.Join(n.set(C.NNG_OPT_RECVTIMEO, answerBy), n.set(C.NNG_OPT_SENDTIMEO, look))
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// answerLimit is how long a request waits for its answer. It cannot be looked for again: a REQ socket
// gives a request up when a call has waited in vain.
const answerLimit = 30 * time.Second

// set sets a time limit.
func (n *nngSocket) set(option string, limit time.Duration) error {
	name := C.CString(option)
	defer C.free(unsafe.Pointer(name))
	return nngError(C.nng_socket_set_ms(n.s, name, C.nng_duration(limit.Milliseconds())))
}

func (n *nngSocket) Listen(at string) error {
	url := C.CString(at)
	defer C.free(unsafe.Pointer(url))
	return nngError(C.nng_listen(n.s, url, nil, 0))
}

func (n *nngSocket) Dial(at string) error {
	url := C.CString(at)
	defer C.free(unsafe.Pointer(url))
	return nngError(C.nng_dial(n.s, url, nil, 0))
}

func (n *nngSocket) Send(b []byte) error {
	return nngError(C.nng_send(n.s, unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b)), 0))
}

func (n *nngSocket) Receive() ([]byte, error) {
	var data unsafe.Pointer
	var size C.size_t
	if err := nngError(C.nng_recv(n.s, unsafe.Pointer(&data), &size, C.NNG_FLAG_ALLOC)); err != nil {
		return nil, err
	}
	n.b = append(n.b[:0], unsafe.Slice((*byte)(data), size)...)
	C.nng_free(data, size)
	return n.b, nil
}

// closeLimit is how long Close waits.
const closeLimit = 5 * time.Second

// Close waits no longer than closeLimit, and leaves the socket then: nng_close of nng 1.5.2 has been seen
// not to return, of a PUSH socket with long messages under way.
func (n *nngSocket) Close() error {
	closed := make(chan error, 1)
	go func() { closed <- nngError(C.nng_close(n.s)) }()
	select {
	case err := <-closed:
		return err
	case <-time.After(closeLimit):
		return nil
	}
}

// nngError is what a code of nng means: errAgain of a call that waited in vain.
func nngError(code C.int) error {
	switch code {
	case 0:
		return nil
	case C.NNG_ETIMEDOUT:
		return errAgain
	}
	return fmt.Errorf("nng: %s", C.GoString(C.nng_strerror(code)))
}
