// SPDX-License-Identifier: Apache-2.0

//go:build linux

package nettest

import (
	"os"
	"testing"

	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/test/tier"
)

// All tests run while calls fail, if the environment asks for it. Most of the time they wait.
func TestMain(m *testing.M) {
	callfault.FromEnvironment()
	tier.AtOnce()
	os.Exit(m.Run())
}
