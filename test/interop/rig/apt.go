// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var errNoApt = errors.New("rig: apt-get, apt-cache or dpkg is missing; the kernel comes from Debian packages, so this needs Debian or a derivative")

// An apt downloads packages of the machine's distribution. It uses the
// machine's package lists while they are good enough and lists of its own,
// which need no root, otherwise.
type apt struct {
	dir     string   // where its own lists live
	options []string // empty while the machine's lists are in use
}

func newApt(dir string) (*apt, error) {
	for _, tool := range []string{"apt-get", "apt-cache", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, errNoApt
		}
	}
	return &apt{dir: dir}, nil
}

// private says whether it uses lists of its own.
func (a *apt) private() bool { return len(a.options) > 0 }

// listsAge is how old lists of our own may be.
const listsAge = 24 * time.Hour

// ownLists goes over to lists of our own, and fetches them if there are none,
// or old ones, or if fresh is set. It says whether it did fetch them.
func (a *apt) ownLists(ctx context.Context, fresh bool) (fetched bool, err error) {
	lists, cache := filepath.Join(a.dir, "lists"), filepath.Join(a.dir, "cache")
	for _, d := range []string{filepath.Join(lists, "partial"), filepath.Join(cache, "archives", "partial")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return false, err
		}
	}
	a.options = []string{"-o", "Dir::State::Lists=" + lists, "-o", "Dir::Cache=" + cache}
	stamp := filepath.Join(a.dir, "stamp")
	if s, err := os.Stat(stamp); err == nil && !fresh && time.Since(s.ModTime()) < listsAge {
		return false, nil
	}
	if _, err := a.tool(ctx, "", "apt-get", "-qq", "update"); err != nil {
		return false, err
	}
	return true, os.WriteFile(stamp, nil, 0o644)
}

// versions returns the candidate version of each package, all of them known.
func (a *apt) versions(ctx context.Context, names ...string) (map[string]string, error) {
	out, err := a.tool(ctx, "", "apt-cache", append([]string{"show", "--no-all-versions"}, names...)...)
	known := make(map[string]string)
	name := ""
	for line := range strings.Lines(out) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch k {
		case "Package":
			name = v
		case "Version":
			if known[name] == "" {
				known[name] = v
			}
		}
	}
	for _, n := range names {
		if known[n] == "" {
			return nil, errors.Join(fmt.Errorf("rig: apt knows no package %s; it is in Debian's section main for amd64, see sources.list(5), then apt-get update", n), err)
		}
	}
	return known, nil
}

// libraries returns the packages of libraries that a package depends on.
func (a *apt) libraries(ctx context.Context, name string) ([]string, error) {
	out, err := a.tool(ctx, "", "apt-cache", "depends", "--important", name)
	if err != nil {
		return nil, err
	}
	var libs []string
	for line := range strings.Lines(out) {
		_, dep, ok := strings.Cut(strings.TrimSpace(line), "Depends: ")
		if ok && (strings.HasPrefix(dep, "lib") || strings.HasPrefix(dep, "zlib")) {
			libs = append(libs, dep)
		}
	}
	return libs, nil
}

// kernelOf returns the kernel that a package of no content of its own depends on.
func (a *apt) kernelOf(ctx context.Context, name string) (string, error) {
	out, err := a.tool(ctx, "", "apt-cache", "depends", "--important", name)
	for line := range strings.Lines(out) {
		if _, dep, ok := strings.Cut(strings.TrimSpace(line), "Depends: "); ok && strings.HasPrefix(dep, "linux-image-") {
			return dep, nil
		}
	}
	return "", errors.Join(fmt.Errorf("rig: apt knows no kernel for %s", name), err)
}

// unpack downloads a package and unpacks it into dir.
func (a *apt) unpack(ctx context.Context, name, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if _, err := a.tool(ctx, tmp, "apt-get", "-qq", "download", name); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("rig: apt-get download %s left %d packages", name, len(debs))
	}
	_, err = a.tool(ctx, tmp, "dpkg", "-x", debs[0], dir)
	return err
}

// lockTimeout is how long apt's programs wait for another program's lock on lists or archives.
const lockTimeout = 10 * time.Minute

// tool runs one of apt's programs in a directory and returns what it printed. While another
// program holds a lock that it needs, it is run again each second, for lockTimeout.
// (The option DPkg::Lock::Timeout is for the lock of dpkg alone.)
func (a *apt) tool(ctx context.Context, dir, name string, args ...string) (string, error) {
	for end := time.Now().Add(lockTimeout); ; {
		out, err := a.once(ctx, dir, name, args...)
		if err == nil || time.Now().After(end) || !strings.Contains(err.Error(), "E: Could not get lock") {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(time.Second):
		}
	}
}

func (a *apt) once(ctx context.Context, dir, name string, args ...string) (string, error) {
	words := args
	if name != "dpkg" {
		// As root, apt would download as a user who cannot write to our directories.
		words = append(append([]string{"-o", "APT::Sandbox::User=root"}, a.options...), args...)
	}
	c := exec.CommandContext(ctx, name, words...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return string(out), fmt.Errorf("rig: %s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// find returns the paths under root of all files and links, by base name.
func find(root string) (map[string][]string, error) {
	byName := make(map[string][]string)
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			byName[e.Name()] = append(byName[e.Name()], p)
		}
		return err
	})
	return byName, err
}
