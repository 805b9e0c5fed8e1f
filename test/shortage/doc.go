// SPDX-License-Identifier: Apache-2.0

// Package shortage has system calls of a test fail for want of descriptors or memory, on
// Linux: not those that somebody thought of, but the first, the second, the third that a
// thread makes, whoever makes them.
//
//	thread := shortage.Start(t)
//	thread.Fail(3, 1, unix.EMFILE) // the third from now
//	thread.Do(func() { dev, err = udp.Open(c) })
//	call, failed := thread.Failed() // "setsockopt", 1
//
// The kernel asks another process about each call before it makes it (seccomp_unotify(2)). It
// has to be another: Go makes some calls without telling its scheduler, and nothing of the
// test's process may have to run before they return. Threads that f starts, as those of its
// goroutines, are not asked about. Calls that Go itself cannot do without are not either: its
// own memory, its threads, its waiting; nor those that give something back, as close, or that
// take nothing, as getsockname, whose failure package net does not survive (Go 1.26).
//
// It needs root and Linux 5.19.
package shortage
