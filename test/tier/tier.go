// SPDX-License-Identifier: Apache-2.0

// Package tier keeps what is slow, or needs a machine of its own, out of go test -short.
//
// go test -short ./... is the first tier: it needs no privilege, makes no network namespace,
// starts no kernel, measures nothing and gates nothing by the clock. test/run --short runs the
// tests of all tiers, shortened: it sets UTIPC_SHORT=all.
package tier

import (
	"flag"
	"os"
	"strconv"
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

// waiting is how many tests AtOnce lets run.
const waiting = 4

// AtOnce lets more parallel tests run than there are processors, unless the flag -parallel says how
// many. TestMain calls it.
func AtOnce() {
	flag.Parse()
	atOnce(flag.CommandLine)
}

func atOnce(flags *flag.FlagSet) {
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flags.Set("test.parallel", strconv.Itoa(waiting)); err != nil {
		panic(err)
	}
}
