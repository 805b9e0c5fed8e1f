// SPDX-License-Identifier: Apache-2.0

package transcript

import "regexp"

// KernelKinds are differences between kernels: the recorded transcripts are of Linux 6.1.
var KernelKinds = []Kind{
	{
		"queued bytes", "a kernel counts the memory of its buffers, whose overhead changes from version to version",
		regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_USED\) = 0 (\d+)$`), false,
	},
}

// LibraryKinds are differences of the preload library to a kernel. There are at most ten, and
// none is about data, readiness, or the error of connect, send or receive.
var LibraryKinds = []Kind{
	{
		"queued bytes", "the memory that a message takes is an implementation's own",
		regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_USED\) = 0 (\d+)$`), false,
	},
	{
		"window", "how much is sent ahead of a reader is an implementation's own",
		regexp.MustCompile(`^send\(s\d+, \d+ bytes, DONTWAIT\) again and again: (\d+) times, then = EAGAIN$`), false,
	},
}

// AcrossKinds are those of the preload library across nodes, besides: of few runs, on busy machines.
var AcrossKinds = append([]Kind{
	{
		"peeking of a stream", "two messages that come while the library looks at a UNIX socket are one to it",
		regexp.MustCompile(`^recv\(s\d+, 100, PEEK\|DONTWAIT\) = (4 "last"|9 "lastwords")$`), false,
	},
	{
		"what comes back of a stream", "what is written to a UNIX socket before the daemon reads may be one message to it",
		regexp.MustCompile(`^recvmsg\(s\d+, 100, DONTWAIT\) = 0 from port\d+@node1 errinfo 2 length (6 retdata "unread"|14 retdata "unreadand more") destname \{22002,1,1\}$`), false,
	},
}, LibraryKinds...)

// SupervisorKinds are those of the supervisor, besides the library's. read(2), write(2), close(2) and the poll family
// never reach it: the filter would make them dearer for all programs.
var SupervisorKinds = append([]Kind{
	{
		"readiness of the end", "poll(2) is the kernel's own, of a UNIX socket: one that has ended is writable too, and in error if something was unread; it ends in steps, between which poll, select and epoll are asked",
		regexp.MustCompile(`^(?:\w+: )?ready\(s\d+\) = (IN\|(?:OUT\|)?(?:ERR\|)?HUP\|RDNORM(?:\|RDHUP)?); select (r[w-]-(?:; epoll IN\|(?:OUT\|)?(?:ERR\|)?HUP\|RDNORM(?:\|RDHUP)?)?)$`), false,
	},
	{
		"readiness without a connection", "as before: a shutdown reports no end, an empty message does not come, and a member of a group is always writable",
		regexp.MustCompile(`^ready\(s\d+\) = (0|(?:IN\|)?OUT(?:\|HUP)?(?:\|RDNORM)?(?:\|RDHUP)?|IN(?:\|HUP)?\|RDNORM(?:\|RDHUP)?); select ([r-][w-]-)$`), false,
	},
	{
		"poll", "as before, asked for one event after the other, and in bands", regexp.MustCompile(`^(?:poll\(s\d+, \w+\)|epoll_wait\(s\d+\)) = (\d [A-Z0|]+)$`), false,
	},
	{
		"wait", "as before", regexp.MustCompile(`^wait\(s\d+, HUP\) = (HUP|ERR\|HUP)$`), false,
	},
	{
		"reads and writes of messages", "read(2) and write(2) are the kernel's own: a write fails, and a read has the daemon's record",
		regexp.MustCompile(`^(?:(?:write|readv)\(s\d+, [^)]*\) = (.*)|recvmsg\(s\d+, \d+, DONTWAIT\) = 7 "written" .*)$`), true,
	},
	{
		"unread messages", "close(2) is the kernel's own: what a program has not read does not come back to who sent it, but what the daemon has",
		regexp.MustCompile(`^recvmsg\(s\d+, \d+(?:, DONTWAIT)?(?:, control \d+)?\) = (0 (?:flags CTRUNC )?from s\d+@own errinfo [24] length \d+(?: retdata .*)?(?: destname .*)?|EAGAIN)$`), true,
	},
	{
		"peeking of a stream", "a UNIX socket shows all that is there", regexp.MustCompile(`^recv\(s\d+, \d+, PEEK(?:\|DONTWAIT\|WAITALL)?\) = (\d+ .*)$`), false,
	},
	{
		"queue depth", "connections are counted by the daemon, which has none of a direct one", regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_DEPTH\) = 0 (\d+)$`), false,
	},
	{
		"after close", "the daemon finds soon after close(2) that a socket has ended",
		regexp.MustCompile(`^(?:recvmsg\(s\d+, \d+, DONTWAIT\) = (0 flags OOB\|EOR from .*|EAGAIN)|send(?:to)?\(s\d+, "\w+"(?:, DONTWAIT|, [0-9:]+)\) = (1|EHOSTUNREACH))$`), true,
	},
}, LibraryKinds...)

// EmulatorKinds are what the preload library prints otherwise under qemu-user 7.2, which passes on the system calls
// and options that it knows by their numbers. The first two are of calls that the library leaves to the kernel; in
// the next three the library keeps what it knows of a socket in options that the emulator refuses.
var EmulatorKinds = append([]Kind{
	{
		"unknown options", "it refuses options that are not in its table before it looks at the descriptor",
		regexp.MustCompile(`^setsockopt\((?:-1|no socket|s\d+), (?:IMPORTANCE|SO_ZEROCOPY), 1\) = (ENOTSOCK|EBADF|EOPNOTSUPP|ENOPROTOOPT)$`), false,
	},
	{
		"unknown requests", "so it does with requests of ioctl(2)",
		regexp.MustCompile(`^ioctl\(s\d+, (?:SIOCPROTOPRIVATE\+\d+|SIOCDEVPRIVATE|0x12345678)\) = (ENOTTY|ENODEV|ENOSYS)$`), false,
	},
	{
		"queue", "messages are counted by SO_PEEK_OFF",
		regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_(?:DEPTH|USED)\) = 0 (\d+)$`), false,
	},
	{
		"parts", "what was read of a message with MSG_EOR is kept by SO_PEEK_OFF",
		regexp.MustCompile(`^recvmsg\(s\d+, (?:4, (?:\w+\|)?EOR|20, DONTWAIT), control 0\) = (.*)$`), false,
	},
	{
		"shutdown without a connection", "that a socket was shut down is kept by SO_SELECT_ERR_QUEUE",
		regexp.MustCompile(`^(?:ready\(s\d+\) = ([A-Z0|]+; select [r-][w-]-)|poll\(s\d+, \w+\) = (\d [A-Z0|]+))$`), false,
	},
}, LibraryKinds...)

// mostEmulated is how many lines differ in each kind.
var mostEmulated = map[string]int{"unknown options": 8, "unknown requests": 16, "queue": 4, "parts": 22, "shutdown without a connection": 44}
