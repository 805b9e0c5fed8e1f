// SPDX-License-Identifier: Apache-2.0

package software

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/test/tier"
)

// zeromqTests are the tests of tipc:// of ZeroMQ's own, each a program, with the number of
// tests in it.
var zeromqTests = map[string]string{
	"test_address_tipc":          "3 Tests 0 Failures 0 Ignored",
	"test_connect_delay_tipc":    "3 Tests 0 Failures 0 Ignored",
	"test_pair_tipc":             "1 Tests 0 Failures 0 Ignored",
	"test_reqrep_device_tipc":    "1 Tests 0 Failures 0 Ignored",
	"test_reqrep_tipc":           "1 Tests 0 Failures 0 Ignored",
	"test_router_mandatory_tipc": "1 Tests 0 Failures 0 Ignored",
	"test_shutdown_stress_tipc":  "1 Tests 0 Failures 0 Ignored",
	"test_sub_forward_tipc":      "1 Tests 0 Failures 0 Ignored",
	"test_term_endpoint_tipc":    "2 Tests 0 Failures 0 Ignored",
}

// platform is what ZeroMQ's build finds out.
const platform = "#define ZMQ_HAVE_TIPC 1\n#define ZMQ_HAVE_IPC 1\n#define ZMQ_HAVE_LINUX 1\n#define HAVE_MKDTEMP 1\n"

// zeromq is the folder of the tests, once they are built.
var zeromq string

// buildZeroMQ compiles the tests of the source of libzmq as it is installed, and returns their folder.
func buildZeroMQ(t *testing.T) string {
	t.Helper()
	preload.NeedCompiler(t)
	if zeromq != "" {
		return zeromq
	}
	source, err := exec.CommandContext(t.Context(), "../source", "libzmq3-dev").Output()
	if err != nil {
		said := ""
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			said = string(exit.Stderr)
		}
		tier.Missing(t, "there is no source of libzmq3-dev: ", err, said)
	}
	root, dir := strings.TrimSpace(string(source)), preload.Folder()
	found, err := filepath.Glob(filepath.Join(root, "tests", "test_*_tipc.cpp"))
	if err != nil || len(found) != len(zeromqTests) {
		t.Fatalf("%d tests of tipc:// in %s, want %d: %v", len(found), root, len(zeromqTests), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "platform.hpp"), []byte(platform), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := func(compiler, output string, args ...string) string {
		t.Helper()
		output = filepath.Join(dir, output)
		args = append([]string{
			"-D_GNU_SOURCE", "-DZMQ_CUSTOM_PLATFORM_HPP", "-DUNITY_EXCLUDE_FLOAT", "-DUNITY_USE_COMMAND_LINE_ARGS", "-I" + dir,
			"-I" + filepath.Join(root, "external/unity"), "-I" + filepath.Join(root, "src"), "-w", "-o", output,
		}, args...)
		if out, err := exec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
		}
		return output
	}
	objects := []string{compile("cc", "unity.o", "-c", filepath.Join(root, "external/unity/unity.c"))}
	for _, name := range []string{"testutil", "testutil_unity", "testutil_monitoring"} {
		objects = append(objects, compile("c++", name+".o", "-c", filepath.Join(root, "tests", name+".cpp")))
	}
	for _, file := range found {
		compile("c++", strings.TrimSuffix(filepath.Base(file), ".cpp"), slices.Concat([]string{file}, objects, []string{"-lzmq", "-lpthread"})...)
	}
	zeromq = dir
	return dir
}

// ZeroMQ's own tests of tipc:// pass, none ignored, with the library as in a guest with a kernel's
// TIPC, and the daemon has had requests of each. Mutation: buildZeroMQ
// leaves ZMQ_HAVE_TIPC out, and all are ignored.
//
// Proves: plain.software
func TestZeroMQ(t *testing.T) {
	dir := buildZeroMQ(t)
	for name, want := range zeromqTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := preload.NewBed(t, hub.New(hub.Config{}), 1)
			if out := b.Run(t, filepath.Join(dir, name)); !strings.Contains(out, want) {
				t.Errorf("want %s:\n%s", want, out)
			}
			if n := b.Records(); n == 0 {
				t.Error("the daemon has had no request")
			}
		})
	}
}
