// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/test/tier"
)

// A C program is compiled and linked with what pkg-config says of the package, and runs with its library; the
// man page is in it.
//
// Proves: daemon.package, capi.abi
func TestLibraryOfPackage(t *testing.T) {
	preload.NeedCompiler(t)
	for _, tool := range []string{"pkg-config", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			tier.Missing(t, err)
		}
	}
	root := t.TempDir()
	run := func(env []string, words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	run(nil, "dpkg-deb", "--extract", buildPackage(t), root)
	files, err := filepath.Glob(filepath.Join(root, "usr/lib/*/pkgconfig/utipc.pc"))
	if err != nil || len(files) != 1 {
		t.Fatalf("utipc.pc: %q, %v", files, err)
	}
	libraries := filepath.Dir(filepath.Dir(files[0]))
	flags := run([]string{"PKG_CONFIG_LIBDIR=" + filepath.Dir(files[0]), "PKG_CONFIG_SYSROOT_DIR=" + root}, "pkg-config", "--cflags", "--libs", "utipc")
	program := filepath.Join(root, "hello")
	run(nil, append([]string{"cc", "-o", program, "../../examples/c/hello.c"}, strings.Fields(flags)...)...)
	if out := run([]string{"LD_LIBRARY_PATH=" + libraries}, program); out != "node 1 asks: what time is it?\n" {
		t.Errorf("hello prints %q", out)
	}
	if page := run(nil, "gzip", "-dc", filepath.Join(root, "usr/share/man/man3/utipc.3.gz")); !strings.Contains(page, ".TH UTIPC 3") {
		t.Errorf("the man page is %q", page)
	}
}
