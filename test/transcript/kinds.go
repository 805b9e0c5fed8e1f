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
