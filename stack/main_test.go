// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"os"
	"testing"

	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/stack/internal/local"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/test/tier"
)

// All tests run with poisoned chunks, and leave no memory mapped.
func TestMain(m *testing.M) {
	for _, env := range []string{"UTIPC_POISON", poll.LockWorkEnv} {
		if err := os.Setenv(env, "1"); err != nil {
			panic(err)
		}
	}
	callfault.FromEnvironment()
	tier.AtOnce()
	code := m.Run()
	if said := poll.LongestHolding(); said != "" && testing.Verbose() {
		fmt.Println(said)
	}
	if left := local.Mapped(); left != 0 && code == 0 {
		fmt.Printf("FAIL: all nodes are closed, %d bytes are mapped still\n", left)
		code = 1
	}
	os.Exit(code)
}
