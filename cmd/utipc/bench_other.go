// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"runtime"
)

var errNoBench = errors.New("bench needs Linux: network namespaces and AF_PACKET; this is " + runtime.GOOS)

func benchDatapath(_ context.Context, args []string, _ stdio) error {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			return flag.ErrHelp
		}
	}
	return errNoBench
}

func benchSockets(ctx context.Context, args []string, std stdio) error {
	err := benchDatapath(ctx, args, std)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(std.out, benchSocketsUsage)
	}
	return err
}

func benchWorker(context.Context, []string, stdio) error { return errNoBench }
