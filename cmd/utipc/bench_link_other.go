// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"io"
)

func benchLink(_ context.Context, args []string, std stdio) error {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			_, err := io.WriteString(std.out, benchLinkUsage)
			return err
		}
	}
	return errNoBench
}
