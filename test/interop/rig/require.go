// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// buildTimeout is for everything from package lists to archive.
const buildTimeout = 5 * time.Minute

var (
	building sync.Mutex // guards built
	built    = map[Flavour]func() (*Image, error){}
)

// Require returns the image of a kernel that is an ordinary program, built once a
// process. Where that is not possible the test is skipped with the reason, or
// fails if UTIPC_TEST_REQUIRE is "all".
func Require(tb testing.TB) *Image {
	tb.Helper()
	return RequireKernel(tb, UML)
}

// RequireKernel is Require for any flavour.
func RequireKernel(tb testing.TB, f Flavour) *Image {
	tb.Helper()
	tier.SkipShort(tb, "a kernel that runs as a guest")
	building.Lock()
	build := built[f]
	if build == nil {
		build = sync.OnceValues(func() (*Image, error) {
			ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
			defer cancel()
			return Build(ctx, "", f)
		})
		built[f] = build
	}
	building.Unlock()
	im, err := build()
	if err != nil {
		tier.Missing(tb, err)
	}
	return im
}
