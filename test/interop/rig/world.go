// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"compress/gzip"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// worldPackages are those whose versions name a world. Libraries that iproute2
// needs besides libc6 come along with them.
var worldPackages = []string{"iproute2", "busybox-static", "libc6"}

// buildWorld makes the directory dir: an archive of the programs in a guest that
// are not ours, whatever its kernel.
func buildWorld(ctx context.Context, a *apt, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	system, made := filepath.Join(tmp, "system"), filepath.Join(tmp, "made")
	if err := a.unpack(ctx, "busybox-static", system); err != nil {
		return err
	}
	libs, err := unpackWithLibraries(ctx, a, "iproute2", []string{"tipc", "tc", "ip"}, system)
	if err != nil {
		return err
	}
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := writeWorld(made, system, libs); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

// unpackWithLibraries unpacks a package and, level by level, those it depends
// on until every shared library of its programs is there. It returns the
// libraries by name.
func unpackWithLibraries(ctx context.Context, a *apt, name string, programs []string, root string) (map[string]string, error) {
	level, seen := []string{name}, map[string]bool{name: true}
	for {
		for _, p := range level {
			if err := a.unpack(ctx, p, root); err != nil {
				return nil, err
			}
		}
		libs, missing, err := libraries(root, programs)
		if err != nil || len(missing) == 0 {
			return libs, err
		}
		var next []string
		for _, p := range level {
			deps, err := a.libraries(ctx, p)
			if err != nil {
				return nil, err
			}
			for _, d := range deps {
				if !seen[d] {
					seen[d] = true
					next = append(next, d)
				}
			}
		}
		if len(next) == 0 {
			return nil, fmt.Errorf("rig: no package that %s depends on has %s", name, strings.Join(missing, " "))
		}
		level = next
	}
}

// libraries finds the shared libraries that programs need, and those that these need.
func libraries(root string, programs []string) (found map[string]string, missing []string, err error) {
	files, err := find(root)
	if err != nil {
		return nil, nil, err
	}
	found = make(map[string]string)
	todo := slices.Clone(programs)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		p, err := program(files, name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		if !slices.Contains(programs, name) {
			found[name] = p
		}
		f, err := elf.Open(p)
		if err != nil {
			return nil, nil, err
		}
		needs, err := f.ImportedLibraries()
		f.Close()
		if err != nil {
			return nil, nil, err
		}
		for _, n := range needs {
			if found[n] == "" && !slices.Contains(todo, n) && !slices.Contains(missing, n) {
				todo = append(todo, n)
			}
		}
	}
	return found, missing, nil
}

// program returns the file of that base name, among those found, that is an
// ELF file once links are followed.
func program(files map[string][]string, name string) (string, error) {
	for _, p := range files[name] {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			continue
		}
		if f, err := elf.Open(real); err == nil {
			f.Close()
			return real, nil
		}
	}
	return "", fmt.Errorf("rig: no program or library %s in the packages", name)
}

// writeWorld writes the archive, and busybox beside it, which unpacks modules.
func writeWorld(dir, system string, libs map[string]string) error {
	out, err := os.Create(filepath.Join(dir, worldArchive))
	if err != nil {
		return err
	}
	defer out.Close()
	ar := newArchive(out, gzip.DefaultCompression)
	for _, d := range []string{"proc", "sys", "tmp", "run", "var/run", "bin", "sbin", "usr/bin", "modules"} {
		ar.dir(d)
	}
	// Before devtmpfs is there, the kernel opens the one and Go's runtime may want the other.
	ar.device("dev/console", 5, 1)
	ar.device("dev/null", 1, 3)

	files, err := find(system)
	if err != nil {
		return err
	}
	add := func(to, from string) {
		data, e := os.ReadFile(from)
		ar.file(to, 0o755, data)
		err = errors.Join(err, e)
	}
	// busybox sh prefers its own applets, hence ip2 and tc2.
	for name, to := range map[string]string{
		"busybox": "bin/busybox", "tipc": "usr/sbin/tipc", "ip": "usr/sbin/ip2", "tc": "usr/sbin/tc2",
		"ld-linux-x86-64.so.2": "lib64/ld-linux-x86-64.so.2",
	} {
		p, e := program(files, name)
		if e != nil {
			return e
		}
		add(to, p)
		if name == "busybox" {
			err = errors.Join(err, os.Rename(p, filepath.Join(dir, "busybox")))
		}
	}
	for name, p := range libs {
		add("lib/x86_64-linux-gnu/"+name, p)
	}
	return errors.Join(err, ar.close(), out.Close())
}
