// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// preload/build makes a library for the machine that is asked for, and each has all the functions that
// symbols.map lists, and no others.
//
// Mutations it catches: a function of the list without EXPORT; no list for the linker, and one function more with EXPORT.
//
// Proves: plain.machines
func TestBuild(t *testing.T) {
	list, err := os.ReadFile("../../preload/symbols.map")
	if err != nil {
		t.Fatal(err)
	}
	global, _, _ := strings.Cut(string(list), "local:")
	_, global, _ = strings.Cut(global, "global:")
	want := regexp.MustCompile(`\w+`).FindAllString(global, -1)
	slices.Sort(want)
	of := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) {
			m.Need(t)
			lib, err := m.library()
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.Open(lib)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			machine := of[runtime.GOARCH]
			if m == Emulated {
				machine = elf.EM_AARCH64
			}
			if f.Machine != machine {
				t.Errorf("a library for %v, want %v", f.Machine, machine)
			}
			all, err := f.DynamicSymbols()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range all {
				if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
					got = append(got, s.Name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("it has the functions\n%q, want\n%q", got, want)
			}
		})
	}
}

// preload/build refuses a compiler of another machine, one that there is not, and a machine that it does not
// know, and leaves no library.
//
// Mutations it catches: the compiler's machine is not looked at; any machine is taken for this one.
//
// Proves: plain.machines
func TestBuildRefuses(t *testing.T) {
	NeedCompiler(t)
	other := "arm64"
	if runtime.GOARCH == other {
		other = "amd64"
	}
	for _, c := range []struct{ arch, compiler, want string }{
		{other, "cc", "preload/build: cc compiles for "},
		{other, "no-such-compiler", "preload/build: there is no C compiler no-such-compiler\n"},
		{"riscv64", "cc", `preload/build: no library for "riscv64"; usage: `},
	} {
		file := filepath.Join(t.TempDir(), "libutipc-preload.so")
		cmd := exec.Command("../../preload/build", "--arch", c.arch, file)
		cmd.Env = append(os.Environ(), "CC="+c.compiler)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%s with %s: got %q, %v, want %q", c.arch, c.compiler, out, err, c.want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s with %s left a file", c.arch, c.compiler)
		}
	}
}
