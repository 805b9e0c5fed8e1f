// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/test/tier"
)

// A checkout is a repository of one commit: the files of the working tree.
type checkout struct {
	t   *testing.T
	dir string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{t, t.TempDir()}
	// Files that were deleted and are not committed yet are left out.
	c.must("sh", "-c", `cd "$1" && git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 sh -c 'for f; do [ ! -L "$f" ] && [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -cf - | tar -xf - -C "$2"`,
		"sh", absolute(t, "../.."), c.dir)
	c.must("git", "init", "-q")
	c.must("git", "add", "-A")
	c.commit("everything")
	return c
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	full, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// run runs a command in the checkout.
func (c *checkout) run(words ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), words[0], words[1:]...)
	cmd.Dir = c.dir
	who := "release@example.com"
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=release", "GIT_COMMITTER_NAME=release", "GIT_AUTHOR_EMAIL="+who, "GIT_COMMITTER_EMAIL="+who,
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *checkout) must(words ...string) string {
	c.t.Helper()
	out, err := c.run(words...)
	if err != nil {
		c.t.Fatalf("%q: %v\n%s", words, err, out)
	}
	return out
}

func (c *checkout) commit(subject string) {
	c.t.Helper()
	c.must("git", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", subject)
}

// A release is a folder of what packaging/release made.
type release struct {
	t   *testing.T
	dir string
}

// run runs a command in the folder and returns what it prints to standard output.
func (r *release) run(words ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), words[0], words[1:]...)
	cmd.Dir = r.dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%q: %v\n%s", words, err, errs.String())
	}
	return string(out)
}

// needRelease skips where a release cannot be built.
func needRelease(t *testing.T) {
	t.Helper()
	preload.Emulated.Need(t)
	for _, tool := range []string{"git", "dpkg-deb", "rpm", "rpm2archive"} {
		if _, err := exec.LookPath(tool); err != nil {
			tier.Missing(t, err)
		}
	}
}

// The files of a release, built from a tag in two folders: they have the same names and bytes, the
// tag's version is in each of them, and the programs in them run.
//
// Mutation it catches: build-deb counts the installed size in blocks of the disk.
//
// Proves: daemon.release
func TestRelease(t *testing.T) {
	needRelease(t)
	const version = "0.1.0"
	want := []string{
		"SHA256SUMS", "utipc-0.1.0-1.aarch64.rpm", "utipc-0.1.0-1.x86_64.rpm",
		"utipc_0.1.0_amd64.deb", "utipc_0.1.0_arm64.deb",
		"utipc_0.1.0_linux_amd64.spdx.json", "utipc_0.1.0_linux_amd64.tar.gz",
		"utipc_0.1.0_linux_arm64.spdx.json", "utipc_0.1.0_linux_arm64.tar.gz",
		"utipc_0.1.0_modules.tar.gz",
	}
	var built [2]*release
	for i := range built {
		c := newCheckout(t)
		c.must("git", "tag", "v"+version)
		out := c.must("packaging/release", "--out", "made")
		built[i] = &release{t, filepath.Join(c.dir, "made")}
		if i == 0 {
			t.Logf("bytes and names:\n%s", out)
		}
		entries, err := os.ReadDir(built[i].dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if !slices.Equal(names, want) {
			t.Fatalf("got %q, want %q", names, want)
		}
	}
	for _, name := range want {
		first, err := os.ReadFile(filepath.Join(built[0].dir, name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(built[1].dir, name))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: two builds differ, or %v", name, err)
		}
	}
	r := built[0]
	r.run("sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS")
	if n := strings.Count(r.run("cat", "SHA256SUMS"), "\n"); n != len(want)-1 {
		t.Errorf("SHA256SUMS has %d lines, want %d", n, len(want)-1)
	}
	for _, m := range []struct{ arch, cpu, emulator string }{{"amd64", "x86_64", ""}, {"arm64", "aarch64", "qemu-aarch64"}} {
		r.checkTarball(m.arch, m.emulator)
		r.checkDeb(m.arch, m.cpu, m.emulator)
		r.checkRPM(m.arch, m.cpu, m.emulator)
		r.checkBill(m.arch)
	}
	r.checkModules()
}

// says checks the version that a program of a release prints.
func (r *release) says(arch, emulator, program string) {
	r.t.Helper()
	words := []string{program, "version"}
	if emulator != "" {
		words = append([]string{emulator}, words...)
	}
	if out := r.run(words...); !regexp.MustCompile(`^utipc 0\.1\.0 go\S+ linux/` + arch + `\n$`).MatchString(out) {
		r.t.Errorf("%s says %q", program, out)
	}
}

func (r *release) checkTarball(arch, emulator string) {
	r.t.Helper()
	name, dir := "utipc_0.1.0_linux_"+arch, r.t.TempDir()
	r.run("tar", "-C", dir, "-xzf", name+".tar.gz")
	for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md", "utipc.service", "utipc.toml", "utipc.1", "completions/utipc.bash", "completions/utipc.zsh", "completions/utipc.fish"} {
		if info, err := os.Stat(filepath.Join(dir, name, file)); err != nil || info.Size() == 0 {
			r.t.Errorf("%s: %s: %v", name, file, err)
		}
	}
	r.says(arch, emulator, filepath.Join(dir, name, "utipc"))
}

func (r *release) checkDeb(arch, cpu, emulator string) {
	r.t.Helper()
	file, dir := "utipc_0.1.0_"+arch+".deb", r.t.TempDir()
	checkModes(r.t, filepath.Join(r.dir, file))
	if out := r.run("dpkg-deb", "--field", file, "Version", "Architecture"); out != "Version: 0.1.0\nArchitecture: "+arch+"\n" {
		r.t.Errorf("%s: %q", file, out)
	}
	r.run("dpkg-deb", "--extract", file, dir)
	r.says(arch, emulator, filepath.Join(dir, "usr/bin/utipc"))
	r.paths(dir, "usr/lib/"+cpu+"-linux-gnu/*", "usr/bin/*")
}

// paths looks for the paths of the machine that built the files: a release has none.
func (r *release) paths(dir string, patterns ...string) {
	r.t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			r.t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || info.IsDir() {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				r.t.Fatal(err)
			}
			if bytes.Contains(b, []byte(filepath.Dir(r.dir))) {
				r.t.Errorf("%s has the path of the folder it was built in", f)
			}
		}
	}
}

func (r *release) checkRPM(arch, cpu, emulator string) {
	r.t.Helper()
	file, dir := "utipc-0.1.0-1."+cpu+".rpm", r.t.TempDir()
	if out := r.run("rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{OS} %{LICENSE}", file); out != "utipc 0.1.0 1 "+cpu+" linux Apache-2.0" {
		r.t.Errorf("%s: %q", file, out)
	}
	if out := r.run("rpm", "-qp", "--configfiles", file); out != "/etc/utipc/utipc.toml\n" {
		r.t.Errorf("%s: settings %q", file, out)
	}
	list := r.run("rpm", "-qpl", file)
	for _, f := range []string{
		"/usr/bin/utipc", "/usr/lib/systemd/system/utipc.service", "/usr/share/licenses/utipc/LICENSE",
		"/usr/lib64/libutipc-preload.so", "/usr/lib64/libutipc.so", "/usr/lib64/libutipc.so.0", "/usr/lib64/libutipc.so.0.1.0", "/usr/lib64/pkgconfig/utipc.pc",
		"/usr/include/utipc.h", "/usr/share/man/man1/utipc.1.gz", "/usr/share/man/man3/utipc.3.gz",
		"/usr/share/bash-completion/completions/utipc", "/usr/share/zsh/site-functions/_utipc", "/usr/share/fish/vendor_completions.d/utipc.fish",
	} {
		if !strings.Contains(list, f+"\n") {
			r.t.Errorf("%s has no %s:\n%s", file, f, list)
		}
	}
	// Debian's folders are nobody's elsewhere.
	if regexp.MustCompile(`-linux-gnu|/usr/share/doc|vendor-completions|(?m)^/lib/`).MatchString(list) {
		r.t.Errorf("%s has files where Debian has them:\n%s", file, list)
	}
	r.run("sh", "-c", `rpm2archive -n - <"$1" | tar -xf - -C "$2"`, "sh", file, dir)
	if out := r.run("grep", "libdir=", filepath.Join(dir, "usr/lib64/pkgconfig/utipc.pc")); out != "libdir=${prefix}/lib64\n" {
		r.t.Errorf("%s: utipc.pc has %q", file, out)
	}
	r.says(arch, emulator, filepath.Join(dir, "usr/bin/utipc"))
}

func (r *release) checkBill(arch string) {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, "utipc_0.1.0_linux_"+arch+".spdx.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	var bill struct {
		Packages []struct {
			Name    string `json:"name"`
			Version string `json:"versionInfo"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(b, &bill); err != nil || len(bill.Packages) < 4 || bill.Packages[0].Name != "github.com/utipc/utipc" || bill.Packages[0].Version != "v0.1.0" {
		r.t.Errorf("the bill of materials for %s: %v, %+v", arch, err, bill.Packages)
	}
}

// checkModules installs the program and takes an adapter into a module, from the release's proxy and
// what this machine has of others' modules, with no network.
func (r *release) checkModules() {
	r.t.Helper()
	dir, empty := r.t.TempDir(), r.t.TempDir()
	r.run("tar", "-C", dir, "-xzf", "utipc_0.1.0_modules.tar.gz")
	lists, err := filepath.Glob(filepath.Join(dir, "modules/github.com/utipc/utipc/adapters/*/@v/list"))
	if err != nil || len(lists) < 6 {
		r.t.Errorf("the proxy has %d adapters, %v", len(lists), err)
	}
	for _, f := range append(lists, filepath.Join(dir, "modules/github.com/utipc/utipc/@v/list")) {
		if b, err := os.ReadFile(f); err != nil || string(b) != "v0.1.0\n" {
			r.t.Errorf("%s: %q, %v", f, b, err)
		}
	}
	cache := strings.TrimSpace(r.run("go", "env", "GOMODCACHE"))
	cmd := exec.CommandContext(r.t.Context(), "go", "install", "github.com/utipc/utipc/cmd/utipc@v0.1.0")
	cmd.Dir = empty
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOBIN="+empty, "GOMODCACHE="+filepath.Join(empty, "modules"), "GOFLAGS=-modcacherw",
		"GOPROXY=file://"+dir+"/modules,file://"+cache+"/cache/download", "GOSUMDB=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("go install: %v\n%s", err, out)
	}
	r.says("amd64", "", filepath.Join(empty, "utipc"))
}

// A commit without a tag is no release, nor is one whose tag CHANGELOG.md does not know; nothing is
// overwritten. The packages of the commits before, at and after a tag are in that order for dpkg.
//
// Mutations it catches: the tag's entry is not looked for; a commit after the tag is 0.1.0~TIME; a
// release candidate is 0.1.0-rc.1 for Debian.
//
// Proves: daemon.release
func TestReleaseVersions(t *testing.T) {
	for _, tool := range []string{"git", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			tier.Missing(t, err)
		}
	}
	c := newCheckout(t)
	refused := func(want string, args ...string) {
		t.Helper()
		out, err := c.run(append([]string{"packaging/release"}, args...)...)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("release %q: %v, want %q in\n%s", args, err, want, out)
		}
	}
	version := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(c.must(append([]string{"packaging/version"}, args...)...))
	}
	refused("no tag", "sbom")
	refused("no version", "--version", "0.1", "sbom")
	refused("not empty", "--version", "v0.1.0", "--out", "docs", "sbom")
	ordered := []string{version(), version("0.1.0-rc.1"), "", "", version("0.1.1")}
	c.must("git", "tag", "v0.1.0")
	ordered[2] = version()
	c.commit("one more")
	ordered[3] = version()
	if ordered[2] != "0.1.0" {
		t.Errorf("the version of the tag is %s", ordered[2])
	}
	for i, v := range ordered[1:] {
		c.must("dpkg", "--validate-version", v)
		if _, err := c.run("dpkg", "--compare-versions", ordered[i], "lt", v); err != nil {
			t.Errorf("%s is not before %s for dpkg", ordered[i], v)
		}
	}
	c.must("git", "tag", "v9.0.0")
	refused(`no entry "## [9.0.0]"`, "sbom")
}
