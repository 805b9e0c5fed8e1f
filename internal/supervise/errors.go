// SPDX-License-Identifier: Apache-2.0

package supervise

import "errors"

// ErrNested means that the process has a filter with a listener already, of utipc run or of a
// container's runtime: the kernel allows one.
var ErrNested = errors.New("another supervisor has the system calls of this process already (a seccomp listener): there can be one")
