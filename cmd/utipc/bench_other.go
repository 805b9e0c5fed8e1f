// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"
	"flag"
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

func benchSockets(_ context.Context, args []string, std stdio) error {
	return noSheet(benchSocketsUsage, args, std)
}

func benchCrypto(_ context.Context, args []string, std stdio) error {
	return noSheet(benchCryptoUsage, args, std)
}

func benchDaemon(_ context.Context, args []string, std stdio) error {
	return noSheet(benchDaemonUsage, args, std)
}

func benchHost(_ context.Context, args []string, std stdio) error {
	return noSheet(benchHostUsage, args, std)
}

func benchWorker(context.Context, []string, stdio) error { return errNoBench }
