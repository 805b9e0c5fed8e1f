// SPDX-License-Identifier: Apache-2.0

package seal

import "errors"

// What sealing, opening and keys can meet. They are bare values: received bytes
// never make the package allocate.
var (
	// ErrKey means key material of another length than 20, 28 or 36 bytes, or a
	// mode that is none.
	ErrKey = errors.New("seal: a key has 16, 24 or 32 bytes and 4 of salt")
	// ErrBusy means no slot for a new key: the one before has not been taken up by all.
	ErrBusy = errors.New("seal: the key before is still being taken up")
	// ErrNoKey means there is no key to seal or open the packet with.
	ErrNoKey = errors.New("seal: no key")
	// ErrSpent means the key has sealed as many packets as it may.
	ErrSpent = errors.New("seal: key spent")
	// ErrTag means the key does not fit, or the packet was changed.
	ErrTag = errors.New("seal: authentication failed")
	// ErrMalformed means no sealed packet, or one whose inside does not fit its header.
	ErrMalformed = errors.New("seal: malformed")
	// ErrReplay means a packet that was seen, or is too old to tell.
	ErrReplay = errors.New("seal: repeated packet")
	// ErrNoRoom means the sealed packet would be longer than the memory given.
	ErrNoRoom = errors.New("seal: no room for the sealed packet")
	// ErrDouble means a key message with the key that is there already, or while
	// another waits for its slot.
	ErrDouble = errors.New("seal: key known already")
)
