// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"

	"github.com/utipc/utipc/internal/cmdline"
)

// runUnmodified needs LD_PRELOAD and the daemon, which are Linux's.
func runUnmodified(_ context.Context, args []string, _ cmdline.Stdio) error {
	if _, err := cmdline.Parse(cmdline.NewFlags("run"), args, 0, -1); err != nil {
		return err
	}
	return errors.New("run needs Linux")
}
