// SPDX-License-Identifier: Apache-2.0

package engine

import "fmt"

// A LengthError means a message that is longer than may be sent. It unwraps to ErrTooLong.
type LengthError struct {
	Size, Most int // bytes
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("stack: message too long: %d bytes, the limit is %d", e.Size, e.Most)
}

// Unwrap returns ErrTooLong.
func (e *LengthError) Unwrap() error { return ErrTooLong }
