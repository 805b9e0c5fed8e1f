// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/test/preload"
)

// timeout is how long a program may take; one that hangs is ended then, and has failed.
const timeout = 5 * time.Minute

func TestMain(m *testing.M) { preload.Main(m) }

// library builds libutipc once, as the package has it but sooner, and returns its folder.
var library = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(preload.Folder(), "lib")
	if out, err := exec.Command("../../capi/build", "--quick", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("capi/build: %w\n%s", err, out)
	}
	return dir, nil
})

// needLibrary is library where there is a C compiler.
func needLibrary(t testing.TB) string {
	t.Helper()
	preload.NeedCompiler(t)
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compile makes a program of sources, linked with the library.
func compile(t testing.TB, sources ...string) string {
	t.Helper()
	dir, program := needLibrary(t), filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", dir, "-o", program}, sources...)
	args = append(args, "-L", dir, "-lutipc", "-lpthread", "-Wl,-rpath,"+dir)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// run runs a program in an environment with more, and returns what it prints.
func run(t testing.TB, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", filepath.Base(name), args, err, out)
	}
	return string(out)
}

// declared are the functions of a header, of a version.
func declared(t *testing.T, header, version string) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../capi/" + header)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:int|ssize_t|const char) \*?(utipc_\w+)\(`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1]+"@"+version)
	}
	return names
}

// The library has the functions that utipc.h declares, of version UTIPC_0, those of embedded.h, which are for the preload
// library, of version UTIPC_PRIVATE, and no others; its name is libutipc.so.0, its file has the version, and its links lead there.
//
// Mutation it catches: a function less in symbols.map.
//
// Proves: capi.abi
func TestSymbols(t *testing.T) {
	dir := needLibrary(t)
	f, err := elf.Open(filepath.Join(dir, "libutipc.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if soname, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(soname, []string{"libutipc.so.0"}) {
		t.Errorf("the name is %q, %v", soname, err)
	}
	all, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) == elf.STT_OBJECT && (s.Name == "UTIPC_0" || s.Name == "UTIPC_PRIVATE") {
			continue
		}
		got = append(got, s.Name+"@"+s.Version)
	}
	slices.Sort(got)
	want := append(declared(t, "utipc.h", "UTIPC_0"), declared(t, "embedded.h", "UTIPC_PRIVATE")...)
	if slices.Sort(want); !slices.Equal(got, want) || len(want) < 40 {
		t.Errorf("it has\n%q, the header\n%q", got, want)
	}
	file, err := filepath.EvalSymlinks(filepath.Join(dir, "libutipc.so.0"))
	if err != nil || !regexp.MustCompile(`/libutipc\.so\.0\.\d+\.\d+$`).MatchString(file) {
		t.Errorf("libutipc.so.0 is %s, %v", file, err)
	}
}

// What is built for arm64 is for arm64, and the header is C++ too.
//
// Proves: capi.abi
func TestOtherMachineAndLanguage(t *testing.T) {
	preload.Emulated.Need(t)
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../../capi/build", "--arch", "arm64", "--quick", dir).CombinedOutput(); err != nil {
		t.Fatalf("capi/build: %v\n%s", err, out)
	}
	f, err := elf.Open(filepath.Join(dir, "libutipc.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != elf.EM_AARCH64 {
		t.Errorf("a library for %v", f.Machine)
	}
	here := needLibrary(t)
	program, source := filepath.Join(dir, "program"), filepath.Join(dir, "program.cc")
	text := "#include <utipc.h>\nint main() { utipc_addr a = utipc_service(1, 2); return utipc_format(&a, 0, 0) != 3; }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "c++", "-Wall", "-Wextra", "-Werror", "-I", here, "-o", program, source, "-L", here, "-lutipc", "-Wl,-rpath,"+here).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(t, nil, program)
}

// capi/build refuses a machine that it does not know, and a compiler that there is not.
//
// Proves: capi.abi
func TestBuildRefuses(t *testing.T) {
	preload.NeedCompiler(t)
	for _, c := range []struct{ arch, compiler, want string }{
		{"riscv64", "cc", `capi/build: no library for "riscv64"; usage: `},
		{runtime.GOARCH, "no-such-compiler", "capi/build: there is no C compiler no-such-compiler\n"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		cmd := exec.CommandContext(t.Context(), "../../capi/build", "--arch", c.arch, dir)
		cmd.Env = append(os.Environ(), "CC="+c.compiler)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%s with %s: got %q, %v, want %q", c.arch, c.compiler, out, err, c.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s with %s left a folder", c.arch, c.compiler)
		}
	}
}
