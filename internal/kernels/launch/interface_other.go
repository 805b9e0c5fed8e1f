// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package launch

import (
	"errors"

	"github.com/utipc/utipc/stack"
)

// openInterface fails here.
func openInterface(string) (stack.Bearer, error) { return nil, errors.ErrUnsupported }
