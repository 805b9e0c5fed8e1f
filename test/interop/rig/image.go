// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CacheEnv names the environment variable with the default cache directory.
const CacheEnv = "UTIPC_RIG_CACHE"

const modulePath = "github.com/utipc/utipc"

// An Image is what a guest boots from.
type Image struct {
	Kernel  string // path of the kernel, a program
	Initrd  string // path of its first root directory, archived
	Release string // the kernel's release, as the package says
}

// Build makes the image, or finds it made; cacheDir "" means the default (see
// the package comment). It is safe in any number of processes at once. The
// working directory must be inside the checkout, as in a test, because the
// guest's program is compiled from there.
func Build(ctx context.Context, cacheDir string) (*Image, error) {
	if runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("rig: user-mode-linux needs amd64, this is %s", runtime.GOARCH)
	}
	cache, err := openCache(cacheDir)
	if err != nil {
		return nil, err
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	sources, err := hashSources(root)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	base, err := findBase(ctx, cache)
	if err != nil {
		return nil, err
	}
	key := hash(filepath.Base(base), sources)
	dir := filepath.Join(cache, "image-"+key)
	if _, err := os.Stat(dir); err != nil {
		if err := buildImage(ctx, root, base, dir); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	os.Chtimes(dir, now, now)
	prune(cache, now.Add(-7*24*time.Hour))
	release, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return nil, err
	}
	return &Image{
		Kernel:  filepath.Join(dir, "linux.uml"),
		Initrd:  filepath.Join(dir, "initrd.gz"),
		Release: string(release),
	}, nil
}

func openCache(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv(CacheEnv)
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("rig: no cache directory, set %s: %w", CacheEnv, err)
		}
		dir = filepath.Join(user, "utipc", "rig")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// findBase returns the base for the packages that apt knows now, making it if
// need be; where there is no apt, the newest one in the cache.
func findBase(ctx context.Context, cache string) (string, error) {
	a, err := newApt(filepath.Join(cache, "apt"))
	if err != nil {
		return newestBase(cache, err)
	}
	dir, err := baseFor(ctx, a, cache)
	// The machine's lists may lack the packages, or name such as the mirror
	// has no more; ours may too, unless they are fresh.
	for fetched := false; err != nil && !fetched && ctx.Err() == nil; {
		var e error
		if fetched, e = a.ownLists(ctx, a.private()); e != nil {
			return newestBase(cache, errors.Join(err, e))
		}
		dir, err = baseFor(ctx, a, cache)
	}
	if err != nil {
		return newestBase(cache, err)
	}
	return dir, nil
}

// baseFor returns the base for the versions in the lists that a uses.
func baseFor(ctx context.Context, a *apt, cache string) (string, error) {
	versions, err := a.versions(ctx, packages...)
	if err != nil {
		return "", err
	}
	var words []string
	for _, p := range packages {
		words = append(words, p, versions[p])
	}
	words = append(words, fmt.Sprint("xstate ", newXState))
	dir := filepath.Join(cache, "base-"+hash(append(words, modules...)...))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, buildBase(ctx, a, dir)
}

// newestBase returns a base that was made earlier, or why there is none.
func newestBase(cache string, why error) (string, error) {
	bases, _ := filepath.Glob(filepath.Join(cache, "base-*"))
	if len(bases) == 0 {
		return "", why
	}
	age := func(p string) time.Time {
		s, err := os.Stat(p)
		if err != nil {
			return time.Time{}
		}
		return s.ModTime()
	}
	return slices.MaxFunc(bases, func(a, b string) int { return age(a).Compare(age(b)) }), nil
}

// buildImage makes the directory dir from a base and the guest's program.
func buildImage(ctx context.Context, root, base, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	guest := filepath.Join(tmp, "guest")
	if err := compile(ctx, root, guest); err != nil {
		return err
	}
	program, err := os.ReadFile(guest)
	if err != nil {
		return err
	}
	made := filepath.Join(tmp, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(made, "initrd.gz"))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := appendFile(out, filepath.Join(base, "base.cpio.gz")); err != nil {
		return err
	}
	ar := newArchive(out, gzip.DefaultCompression)
	ar.file("init", 0o755, program)
	ar.symlink("bin/peer", "/init")
	if err := errors.Join(ar.close(), out.Close()); err != nil {
		return err
	}
	for _, name := range []string{"linux.uml", "release"} {
		if err := os.Link(filepath.Join(base, name), filepath.Join(made, name)); err != nil {
			return err
		}
	}
	return os.Rename(made, dir)
}

// compile builds the guest's program.
func compile(ctx context.Context, root, to string) error {
	tool := filepath.Join(runtime.GOROOT(), "bin", "go")
	if p, err := exec.LookPath("go"); err == nil {
		tool = p
	}
	c := exec.CommandContext(ctx, tool, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, "./test/interop/guest")
	c.Dir = root
	// Flags for the tests, such as -race, are not for the guest.
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("rig: compile the guest's program: %w: %s", err, out)
	}
	return nil
}

// moduleRoot finds the checkout from the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module "+modulePath+"\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("rig: not inside a checkout of %s, where the guest's program is compiled from", modulePath)
		}
		dir = up
	}
}

// hashSources hashes what the guest's program is made of, and by which Go.
func hashSources(root string) (string, error) {
	words := []string{runtime.Version()}
	for _, pattern := range []string{"go.sum", "test/interop/guest/*.go", "test/interop/channel/*.go", "test/interop/pattern/*.go", "test/interop/flow/*.go", "test/interop/cast/*.go", "test/interop/play/*.go", "frame/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			words = append(words, filepath.Base(f), string(b))
		}
	}
	return hash(words...), nil
}

func hash(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d %s\n", len(w), w)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// appendFile copies the file at path to the end of w.
func appendFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// prune removes images that nobody has asked for since then, and what builds
// that were cut short have left.
func prune(cache string, then time.Time) {
	for _, pattern := range []string{"image-*", "tmp-*"} {
		dirs, _ := filepath.Glob(filepath.Join(cache, pattern))
		for _, d := range dirs {
			if s, err := os.Stat(d); err == nil && s.ModTime().Before(then) {
				os.RemoveAll(d)
			}
		}
	}
}

// lock waits until this process alone holds the lock file.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			f.Close()
			return nil, &os.PathError{Op: "lock", Path: path, Err: err}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("rig: another process holds %s: %w", path, ctx.Err())
		}
	}
}
