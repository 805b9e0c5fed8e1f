// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

// outputWidth is not known here.
func outputWidth(io.Writer) int { return 0 }

// listenOn needs packet sockets, which are Linux's.
func listenOn(context.Context, string) (liveFrames, error) {
	return nil, errors.New("--if needs Linux; 'tcpdump -U -w - | utipc decode -' does the same elsewhere")
}
