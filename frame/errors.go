// SPDX-License-Identifier: Apache-2.0

package frame

import "errors"

// What parsing can find. They are bare values: received bytes never make the
// parser allocate.
var (
	// ErrTruncated means the frame ends before its own length fields say it does.
	ErrTruncated = errors.New("frame: truncated")
	// ErrMalformed means a field holds a value no message may have there.
	ErrMalformed = errors.New("frame: malformed")
	// ErrVersion means the message is not of protocol version 2.
	ErrVersion = errors.New("frame: version is not 2")
	// ErrEncrypted means the frame is encrypted.
	ErrEncrypted = errors.New("frame: encrypted")
	// ErrUnknown means a user or type that must not come from the wire.
	ErrUnknown = errors.New("frame: unknown user or type")
	// ErrNotTIPC means the frame carries another protocol.
	ErrNotTIPC = errors.New("frame: not TIPC")
)
