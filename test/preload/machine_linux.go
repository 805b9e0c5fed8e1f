// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// A Machine is one that C programs, and the library, are compiled for, and run on.
type Machine struct {
	Name     string
	Compiler string

	packages string   // of Debian, that have what it needs
	emulator []string // the command that runs its programs, nil here
	library  func() (string, error)
}

// Here is this machine.
var Here = &Machine{Name: "here", Compiler: "cc", packages: "gcc and libc6-dev", library: library}

// Emulated is an arm64 of qemu-user, which makes a program's system calls on this kernel. What it does not pass on
// is for the tests to know.
var Emulated = &Machine{
	Name:     "arm64",
	Compiler: "aarch64-linux-gnu-gcc",
	packages: "gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user",
	emulator: []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"},
	library:  sync.OnceValues(func() (string, error) { return buildLibrary("libutipc-preload-arm64.so", "--arch", "arm64") }),
}

// Machines are those that tests of C programs run on. Where this is an arm64 there is no need for another.
func Machines() []*Machine {
	if runtime.GOARCH == "arm64" {
		return []*Machine{Here}
	}
	return []*Machine{Here, Emulated}
}

// Need skips the test where the machine's compiler or its emulator is missing, and under go test -short.
func (m *Machine) Need(t testing.TB) {
	t.Helper()
	tier.SkipShort(t, "a C compiler")
	programs := []string{m.Compiler}
	if m.emulator != nil {
		programs = append(programs, m.emulator[0])
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			tier.Missing(t, fmt.Sprintf("there is no %s: install %s", p, m.packages))
		}
	}
}

// Compile makes a program of a file of testdata, with more flags for the compiler.
func (m *Machine) Compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	m.Need(t)
	program := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/" + source}, flags...)
	if out, err := exec.Command(m.Compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// Command is a program of the machine, with its library, whose daemon is that of b.
func (m *Machine) Command(ctx context.Context, b *Bed, name string, args ...string) (*exec.Cmd, error) {
	lib, err := m.library()
	if err != nil {
		return nil, err
	}
	preload := "LD_PRELOAD=" + lib
	env := append(append(os.Environ(), "UTIPC_SOCKET="+b.Path, "UTIPC_PRELOAD_DEBUG=1"), b.env...)
	words := append([]string{name}, args...)
	if m.emulator == nil {
		env = append(env, preload)
	} else { // its own loader could not load it
		words = append(append(m.emulator[:len(m.emulator):len(m.emulator)], "-E", preload), words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = env
	return cmd, nil
}

// buildLibrary builds the library, and returns its path.
func buildLibrary(name string, flags ...string) (string, error) {
	file := filepath.Join(built, name)
	out, err := exec.Command("../../preload/build", append(flags, file)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("preload/build: %w\n%s", err, out)
	}
	return file, nil
}

// library builds that of this machine.
var library = sync.OnceValues(func() (string, error) { return buildLibrary("libutipc-preload.so") })
