// SPDX-License-Identifier: Apache-2.0

package socket

import "net"

// A SendReport is about a message that a write of an attached node took, and that the
// daemon then could not send. The write had returned without an error, and those after it
// are not touched. See PacketConn.NextReport.
type SendReport struct {
	Seq  uint64   // which message: writes of the socket that returned no error count from 1; 0: not known. Of concurrent writes the order is not known
	Addr net.Addr // its destination, as the write had it; of Group.Write a Range, all members
	Data []byte   // its beginning, at most 1024 bytes; nothing from a daemon of an older version
	Len  int      // bytes of the whole message; 0 from a daemon of an older version
	Err  error    // why, a *net.OpError that a write which waits for its answer had returned
	Lost uint64   // reports just before this one for which there was no room
}
