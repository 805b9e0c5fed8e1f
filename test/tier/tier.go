// SPDX-License-Identifier: Apache-2.0

// Package tier keeps what is slow, or needs a machine of its own, out of go test -short.
//
// go test -short ./... is the first tier: it needs no privilege, makes no network namespace,
// starts no kernel, measures nothing and gates nothing by the clock. test/run --short runs the
// tests of all tiers, shortened: it sets UTIPC_SHORT=all.
package tier

import (
	"os"
	"testing"
)

// SkipShort skips the test under go test -short, and names what the test needs, for example
// "network namespaces". With UTIPC_SHORT=all in the environment the test runs.
func SkipShort(tb testing.TB, needs string) {
	tb.Helper()
	if First() {
		tb.Skipf("-short: the test needs %s; test/run --short runs it", needs)
	}
}

// First reports whether the first tier alone is to run.
func First() bool { return testing.Short() && os.Getenv("UTIPC_SHORT") != "all" }

// Missing skips the test for want of something, which it names as Skip does, or fails it where all
// is required: with UTIPC_TEST_REQUIRE=all in the environment.
func Missing(tb testing.TB, what ...any) {
	tb.Helper()
	if os.Getenv("UTIPC_TEST_REQUIRE") == "all" {
		tb.Fatal(what...)
	}
	tb.Skip(what...)
}
