// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cores

import "errors"

// First fails here.
func First() ([2]int, error) { return [2]int{}, errors.ErrUnsupported }

// On fails here.
func On(int, func() error) error { return errors.ErrUnsupported }

// Prefer fails here.
func Prefer(int, int) error { return errors.ErrUnsupported }
