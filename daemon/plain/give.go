// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// Give writes an answer with its descriptor, which it closes. The program waits for the end of the connection,
// which comes after that: what it closes then has no other descriptor here.
func (s *Sockets) Give(c *attach.Conn, r *attach.Header, a Answer) error {
	err := c.WriteFD(r, a.Data, a.FD)
	unix.Close(a.FD)
	return err
}
