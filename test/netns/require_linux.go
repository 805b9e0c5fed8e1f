// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/tier"
)

// Require skips the test where no namespace can be made, saying why: an ordinary
// user, a sandbox, a missing tool. With UTIPC_TEST_REQUIRE=all in the environment
// it fails the test instead.
func Require(tb testing.TB) {
	tb.Helper()
	tier.SkipShort(tb, "network namespaces")
	if err := obstacle(); err != nil {
		tier.Missing(tb, "no network namespaces:", err)
	}
}

// obstacle tries once what the package needs.
var obstacle = sync.OnceValue(func() error {
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	in, err := bed.NewNamespace()
	if err != nil {
		return fmt.Errorf("as uid %d: %w", os.Geteuid(), err)
	}
	in.Close()
	return nil
})
