// SPDX-License-Identifier: Apache-2.0

// Package supervise serves the AF_TIPC sockets of programs that no library can be loaded into:
// static programs, and those in Go, which make system calls by themselves. A seccomp filter has
// the kernel hand the calls of sockets of such a program to a supervisor, which does for them what
// the preload library does in the program (folder preload): it makes requests of the daemon about the
// program's descriptor, of which it has a copy for that time. Data that a program writes and
// reads by write(2) and read(2) passes the supervisor by; docs/reference/attach.md, "Plain sockets", tells why
// it can.
//
//	Run: the supervisor                      the program
//	  starts itself anew ------------------> Become: installs the filter
//	  takes the filter's listener <--------- waits, then becomes the program
//	  serves notifications <---------------- socket(AF_TIPC), bind, connect, ...
//
// The filter is inherited by all processes that the program starts, and cannot be removed.
//
// # What the supervisor must not be trusted with
//
// The filter is no sandbox. The supervisor reads arguments that are in the program's memory when
// the call has begun, and another thread can change them at any time: for a call that is passed on to
// the kernel, the kernel reads them again. A program can deceive itself so, and nobody else: the
// daemon judges requests by the descriptors that come with them, and the supervisor has no right
// that the program has not.
//
// # Calls that wait
//
// Each call has a goroutine, and none keeps a thread while it waits. It ends with the thread that made it: the
// pidfd of that says so, or at latest a sweep, which asks the kernel of all calls whether they still wait.
// A sweep comes with time, and when there are many calls, so that a program that has its threads
// killed does not have the supervisor grow.
//
// # Not implemented
//
// Datagrams by read(2), and by write(2), which fails; generic netlink; and all that the library corrects of poll(2),
// close(2) and SIGPIPE. A signal whose handler would interrupt a call that waits in the
// supervisor is handled after that call.
package supervise
