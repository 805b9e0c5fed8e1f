// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/kernels"
	"github.com/utipc/utipc/internal/kernels/launch"
)

// benchRank is one rank of an application kernel, or a burner; its parent talks to it.
func benchRank(ctx context.Context, args []string, std cmdline.Stdio) error {
	if _, err := cmdline.Parse(cmdline.NewFlags("bench rank"), args, 0, 0); err != nil {
		return err
	}
	return launch.Rank(ctx, std.In, std.Raw(), kernels.Find)
}
