// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"fmt"
	"slices"
)

// Credentials are who a process is.
type Credentials struct {
	PID    int // 0: of another process namespace
	UID    uint32
	GID    uint32
	Groups []uint32 // supplementary ones
}

// String returns "pid 17, uid 1000, gid 1000".
func (c Credentials) String() string {
	return fmt.Sprintf("pid %d, uid %d, gid %d", c.PID, c.UID, c.GID)
}

// InGroup reports whether the process is in a group.
func (c Credentials) InGroup(gid uint32) bool {
	return c.GID == gid || slices.Contains(c.Groups, gid)
}
