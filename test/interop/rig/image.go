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
	Flavour Flavour
	Kernel  string // path of the kernel; of UML it is a program
	Initrd  string // path of its first root directory, archived
	Release string // the kernel's release, as the package says
}

// Archives of a world and of a kernel, in their directories.
const (
	worldArchive   = "world.cpio.gz"
	modulesArchive = "modules.cpio.gz"
)

// Build makes the image of a flavour, or finds it made; cacheDir "" means the
// default (see the package comment). It is safe in any number of processes at
// once. The working directory must be inside the checkout, as in a test, because
// the guest's program is compiled from there.
func Build(ctx context.Context, cacheDir string, f Flavour) (*Image, error) {
	if runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("rig: the kernels are for amd64, this is %s", runtime.GOARCH)
	}
	if f.emulated() {
		if _, err := exec.LookPath(emulator); err != nil {
			return nil, fmt.Errorf("rig: kernel %s runs in %s, which Debian has in qemu-system-x86: %w", f, emulator, err)
		}
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
	parts, err := findParts(ctx, cache, f)
	if err != nil {
		return nil, err
	}
	key := hash(filepath.Base(parts.world), filepath.Base(parts.kernel), sources)
	dir := filepath.Join(cache, "image-"+string(f)+"-"+key)
	if _, err := os.Stat(dir); err != nil {
		if err := buildImage(ctx, root, parts, dir); err != nil {
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
		Flavour: f,
		Kernel:  filepath.Join(dir, "kernel"),
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

// parts are the directories that an image is made from.
type parts struct{ world, kernel string }

// findParts returns those for the packages that apt knows now, making them if
// need be; where there is no apt, the newest in the cache.
func findParts(ctx context.Context, cache string, f Flavour) (parts, error) {
	a, err := newApt(filepath.Join(cache, "apt"))
	if err != nil {
		return newestParts(cache, f, err)
	}
	p, err := partsFor(ctx, a, cache, f)
	// The machine's lists may lack the packages, or name such as the mirror
	// has no more; ours may too, unless they are fresh.
	for fetched := false; err != nil && !fetched && ctx.Err() == nil; {
		var e error
		if fetched, e = a.ownLists(ctx, a.private()); e != nil {
			return newestParts(cache, f, errors.Join(err, e))
		}
		p, err = partsFor(ctx, a, cache, f)
	}
	if err != nil {
		return newestParts(cache, f, err)
	}
	return p, nil
}

// partsFor returns those for the versions in the lists that a uses.
func partsFor(ctx context.Context, a *apt, cache string, f Flavour) (p parts, err error) {
	name := umlPackage
	if m, ok := meta[f]; ok {
		if name, err = a.kernelOf(ctx, m); err != nil {
			return p, err
		}
	}
	versions, err := a.versions(ctx, append([]string{name}, worldPackages...)...)
	if err != nil {
		return p, err
	}
	var words []string
	for _, n := range worldPackages {
		words = append(words, n, versions[n])
	}
	p.world = filepath.Join(cache, "world-"+hash(words...))
	if _, err := os.Stat(p.world); err != nil {
		if err := buildWorld(ctx, a, p.world); err != nil {
			return p, err
		}
	}
	words = append([]string{name, versions[name], fmt.Sprint("xstate ", newXState), "no helper"}, f.modules()...)
	p.kernel = filepath.Join(cache, "kernel-"+string(f)+"-"+hash(words...))
	if _, err := os.Stat(p.kernel); err != nil {
		busybox := filepath.Join(p.world, "busybox")
		if err := buildKernel(ctx, a, f, name, busybox, p.kernel); err != nil {
			return p, err
		}
	}
	return p, nil
}

// newestParts returns what was made earlier, or why there is nothing.
func newestParts(cache string, f Flavour, why error) (p parts, _ error) {
	for into, pattern := range map[*string]string{&p.world: "world-*", &p.kernel: "kernel-" + string(f) + "-*"} {
		all, _ := filepath.Glob(filepath.Join(cache, pattern))
		if len(all) == 0 {
			return p, why
		}
		age := func(p string) time.Time {
			s, err := os.Stat(p)
			if err != nil {
				return time.Time{}
			}
			return s.ModTime()
		}
		*into = slices.MaxFunc(all, func(a, b string) int { return age(a).Compare(age(b)) })
	}
	return p, nil
}

// buildImage makes the directory dir from its parts and the guest's program.
func buildImage(ctx context.Context, root string, p parts, dir string) error {
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
	for _, part := range []string{filepath.Join(p.world, worldArchive), filepath.Join(p.kernel, modulesArchive)} {
		if err := appendFile(out, part); err != nil {
			return err
		}
	}
	ar := newArchive(out, gzip.DefaultCompression)
	ar.file("init", 0o755, program)
	ar.symlink("bin/peer", "/init")
	if err := errors.Join(ar.close(), out.Close()); err != nil {
		return err
	}
	for _, name := range []string{"kernel", "release"} {
		if err := os.Link(filepath.Join(p.kernel, name), filepath.Join(made, name)); err != nil {
			return err
		}
	}
	return os.Rename(made, dir)
}

// compile builds the guest's program.
func compile(ctx context.Context, root, to string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, "./test/interop/guest")
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
