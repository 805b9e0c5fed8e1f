// SPDX-License-Identifier: Apache-2.0

package transcript

import "regexp"

// KernelKinds are differences between kernels: the recorded transcripts are of Linux 6.1.
var KernelKinds = []Kind{
	{
		"queued bytes", "a kernel counts the memory of its buffers, whose overhead changes from version to version",
		regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_USED\) = 0 (\d+)$`),
	},
}

// LibraryKinds are differences of the preload library to a kernel. There are at most ten, and
// none is about data, readiness, or the error of connect, send or receive.
var LibraryKinds = []Kind{
	{
		"queued bytes", "the memory that a message takes is an implementation's own",
		regexp.MustCompile(`^getsockopt\(s\d+, SOCK_RECVQ_USED\) = 0 (\d+)$`),
	},
	{
		"window", "how much is sent ahead of a reader is an implementation's own",
		regexp.MustCompile(`^send\(s\d+, \d+ bytes, DONTWAIT\) again and again: (\d+) times, then = EAGAIN$`),
	},
}
