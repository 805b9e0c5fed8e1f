// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package poll

import (
	"errors"
	"fmt"
)

// newPollWaker is for devices with descriptors, of which there are none where nothing polls them.
func newPollWaker([]int) (waker, error) {
	return nil, fmt.Errorf("stack: devices with descriptors: %w", errors.ErrUnsupported)
}

func newNetWaker(devices []int) (waker, error) { return newPollWaker(devices) }
