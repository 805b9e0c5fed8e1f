// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
)

// The package for arm64 has a program and a library for arm64, and utipc run of the one finds the other where the
// package has it. The emulator shows it the package's files as those of its system. What it runs is a program of
// this machine, which prints the library's path: the emulator has no other way to execute.
//
// Mutations it catches, in build-deb: no --arch for the library; no GOARCH; the folder of amd64.
//
// Proves: daemon.package, plain.machines
func TestPackageOfArm64(t *testing.T) {
	preload.Emulated.Need(t)
	file, root := buildPackage(t, "--arch", "arm64"), t.TempDir()
	out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--field", file, "Architecture").CombinedOutput()
	if err != nil || string(out) != "arm64\n" {
		t.Errorf("the package is for %q, %v", out, err)
	}
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--extract", file, root).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	const library = "/usr/lib/aarch64-linux-gnu/libutipc-preload.so"
	utipc := filepath.Join(root, "usr/bin/utipc")
	for _, name := range []string{utipc, filepath.Join(root, library)} {
		f, err := elf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != elf.EM_AARCH64 {
			t.Errorf("%s is for %v", name, f.Machine)
		}
		f.Close()
	}
	env, err := exec.CommandContext(t.Context(), "qemu-aarch64", "-L", root, utipc, "run", "--how", "preload", "--", "env").CombinedOutput()
	if err != nil || !strings.Contains("\n"+string(env), "\nLD_PRELOAD="+library+"\n") {
		t.Errorf("utipc run: %v, want LD_PRELOAD=%s in\n%s", err, library, env)
	}
}
