// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// need returns the path of a program. Without it the test is skipped, or fails if
// UTIPC_TEST_REQUIRE is "all".
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		tier.Missing(t, err)
	}
	return path
}

// buildUtipc builds the program and returns where it is.
func buildUtipc(t *testing.T) string {
	t.Helper()
	tier.SkipShort(t, "a kernel that runs as a guest") // before a build that takes longer than the rest of the first tier here
	bin := filepath.Join(t.TempDir(), "utipc")
	cmd := exec.Command("go", "build", "-o", bin, "github.com/utipc/utipc/cmd/utipc")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
