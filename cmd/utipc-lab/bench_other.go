// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/utipc/utipc/internal/cmdline"
)

var errNoBench = errors.New("bench needs Linux: network namespaces and AF_PACKET; this is " + runtime.GOOS)

// noBench tells what a measurement would do, or that it cannot be done here.
func noBench(_ context.Context, args []string, _ cmdline.Stdio) error {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			return cmdline.HelpError{Flags: cmdline.NewFlags("bench")}
		}
	}
	return errNoBench
}

// reportBenches are the report, which needs the same.
func reportBenches() []*cmdline.Command {
	return []*cmdline.Command{{Name: "report", Short: "beside TCP and others", Usage: benchUsageElsewhere, Run: noBench}}
}

const benchUsageElsewhere = "utipc-lab bench report: what this stack is worth beside other systems, measured on Linux.\n"

var (
	benchDatapath, benchLink, benchNames, benchSockets, benchTargets = noBench, noBench, noBench, noBench, noBench
	benchCores, benchCrypto, benchDaemon, benchIdle                  = noBench, noBench, noBench, noBench
	benchHost, benchRank, benchWorker                                = noBench, noBench, noBench
)
