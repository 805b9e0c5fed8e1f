// SPDX-License-Identifier: Apache-2.0

//go:build linux

package nettest

import (
	"os"
	"testing"

	"github.com/utipc/utipc/internal/callfault"
)

// All tests run while calls fail, if the environment asks for it.
func TestMain(m *testing.M) {
	callfault.FromEnvironment()
	os.Exit(m.Run())
}
