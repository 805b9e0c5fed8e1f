// SPDX-License-Identifier: Apache-2.0

//go:build !linux || !(amd64 || arm64)

package supervise

import "errors"

// Run fails.
func Run(socket, program string, again, args []string) (status int, err error) {
	return 0, errors.ErrUnsupported
}

// IsChild returns false.
func IsChild() bool { return false }

// Become fails.
func Become(args []string) error { return errors.ErrUnsupported }
