// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"
)

// buildTimeout is for everything from package lists to archive.
const buildTimeout = 5 * time.Minute

var built = sync.OnceValues(func() (*Image, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	return Build(ctx, "")
})

// Require returns the image, built once a process. Where that is not possible
// the test is skipped with the reason, or fails if UTIPC_TEST_REQUIRE is "all".
func Require(tb testing.TB) *Image {
	tb.Helper()
	im, err := built()
	switch {
	case err == nil:
	case os.Getenv("UTIPC_TEST_REQUIRE") == "all":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
	return im
}
