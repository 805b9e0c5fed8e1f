// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"io"
)

func benchLink(_ context.Context, args []string, std stdio) error {
	return noSheet(benchLinkUsage, args, std)
}

func benchNames(_ context.Context, args []string, std stdio) error {
	return noSheet(benchNamesUsage, args, std)
}

// noSheet tells what a measurement would do, or that it cannot be done here.
func noSheet(usage string, args []string, std stdio) error {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			_, err := io.WriteString(std.out, usage)
			return err
		}
	}
	return errNoBench
}
