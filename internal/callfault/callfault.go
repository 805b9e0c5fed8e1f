// SPDX-License-Identifier: Apache-2.0

// Package callfault lets tests make calls of the system fail that hardly ever do. Package
// attach asks it before each call on a socket, each attempt to take a lock without waiting,
// each look at a shared ring, and before it makes or maps one; without an Injector that is one atomic load.
package callfault

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// A Call is what may fail.
type Call uint8

// Calls.
const (
	Send        Call = iota // sendmsg of a record that must not wait
	SendWait                // sendmsg of a record that waits for room: the system's EAGAIN is no answer to it
	Receive                 // recvmsg that must not wait
	ReceiveWait             // recvmsg that waits for a record: likewise
	WakePeer                // sendmsg of the byte that wakes the peer at a ring
	LockWrite               // TryLock of the writing half
	LockRead                // TryLock of the reading half
	RingPut                 // a look for room in a ring
	RingGet                 // a look for a record in a ring
	RingMake                // memfd_create of a ring
	RingMap                 // mmap of a ring
	calls
)

// An Injector answers a Call in place of the system; 0 lets the call be made. It may be
// called by several goroutines at once.
type Injector func(c Call) syscall.Errno

var current atomic.Pointer[Injector]

// Answer is what the Injector in force says of a call; 0 without one.
func Answer(c Call) syscall.Errno {
	p := current.Load()
	if p == nil {
		return 0
	}
	return (*p)(c)
}

// Use puts an Injector in force for the whole process, nil for none.
func Use(f Injector) {
	if f == nil {
		current.Store(nil)
		return
	}
	current.Store(&f)
}

// answers are what a Seeded Injector may answer to each Call. A waiting call is never told
// EAGAIN: the caller would wait for an event of the socket that does not come. Making and
// mapping rings is left to the system: without a ring the tests of rings have no subject.
var answers = [calls][]syscall.Errno{
	Send:        {syscall.EAGAIN, syscall.ENOBUFS, syscall.ENOMEM, syscall.EINTR},
	SendWait:    {syscall.ENOBUFS, syscall.ENOMEM, syscall.EINTR},
	Receive:     {syscall.EAGAIN, syscall.EINTR},
	ReceiveWait: {syscall.EINTR},
	WakePeer:    {syscall.ENOBUFS, syscall.ENOMEM, syscall.EINTR},
	LockWrite:   {syscall.EAGAIN},
	LockRead:    {syscall.EAGAIN},
	RingPut:     {syscall.EAGAIN},
	RingGet:     {syscall.EAGAIN},
}

// Seeded returns an Injector that lets one call in every fail, with each of the errors that
// the system may give. Which calls these are depends on the seed and on the order of calls.
func Seeded(seed uint64, every int) Injector {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(seed, 0))
	return func(c Call) syscall.Errno {
		if len(answers[c]) == 0 {
			return 0
		}
		mu.Lock()
		defer mu.Unlock()
		if chance.IntN(every) != 0 {
			return 0
		}
		all := answers[c]
		return all[chance.IntN(len(all))]
	}
}

// Variable is the environment variable that FromEnvironment reads.
const Variable = "UTIPC_TEST_CALLFAULTS"

// FromEnvironment puts a Seeded Injector in force whose seed is the value of Variable, if
// that is set. It fails one call in eight.
func FromEnvironment() {
	if seed, err := strconv.ParseUint(os.Getenv(Variable), 10, 64); err == nil {
		Use(Seeded(seed, 8))
	}
}
