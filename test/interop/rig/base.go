// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages are those whose versions name a base. Libraries that iproute2
// needs besides libc6 come along with them.
var packages = []string{"user-mode-linux", "iproute2", "busybox-static", "libc6"}

// modules are loaded at boot, after what they depend on; a name that the
// package does not have is built into the kernel.
var modules = []string{"tipc", "macvlan", "sch_netem", "sch_ingress", "cls_u32", "act_gact", "act_mirred"}

// buildBase makes the directory dir: the kernel, and an archive of everything
// in the guest that is not ours.
func buildBase(ctx context.Context, a *apt, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	system, uml := filepath.Join(tmp, "system"), filepath.Join(tmp, "uml")
	if err := a.unpack(ctx, "user-mode-linux", uml); err != nil {
		return err
	}
	if err := a.unpack(ctx, "busybox-static", system); err != nil {
		return err
	}
	libs, err := unpackWithLibraries(ctx, a, "iproute2", []string{"tipc", "tc", "ip"}, system)
	if err != nil {
		return err
	}
	made := filepath.Join(tmp, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	release, err := writeBase(filepath.Join(made, "base.cpio.gz"), system, uml, libs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "release"), []byte(release), 0o644); err != nil {
		return err
	}
	if err := widenXState(filepath.Join(uml, "usr/bin/linux.uml")); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(uml, "usr/bin/linux.uml"), filepath.Join(made, "linux.uml")); err != nil {
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

// writeBase writes the archive and returns the kernel's release.
func writeBase(path, system, uml string, libs map[string]string) (release string, err error) {
	out, err := os.Create(path)
	if err != nil {
		return "", err
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
		return "", err
	}
	add := func(to, from string) {
		data, e := os.ReadFile(from)
		ar.file(to, 0o755, data)
		err = errors.Join(err, e)
	}
	// busybox sh prefers its own applets, hence ip2 and tc2.
	for name, to := range map[string]string{
		"busybox": "bin/busybox", "tipc": "usr/sbin/tipc", "ip": "usr/sbin/ip2", "tc": "usr/sbin/tc2",
	} {
		p, e := program(files, name)
		if e != nil {
			return "", e
		}
		add(to, p)
	}
	for name, p := range libs {
		add("lib/x86_64-linux-gnu/"+name, p)
	}
	loader, e := program(files, "ld-linux-x86-64.so.2")
	if e != nil {
		return "", e
	}
	add("lib64/ld-linux-x86-64.so.2", loader)

	dirs, _ := filepath.Glob(filepath.Join(uml, "usr/lib/uml/modules/*"))
	if len(dirs) != 1 {
		return "", fmt.Errorf("rig: package user-mode-linux has %d module directories, want 1", len(dirs))
	}
	busybox, e := program(files, "busybox")
	if e != nil {
		return "", e
	}
	order, e := addModules(ar, dirs[0], busybox)
	if e != nil {
		return "", e
	}
	ar.file("modules/order", 0o644, []byte(strings.Join(order, "\n")+"\n"))
	return filepath.Base(dirs[0]), errors.Join(err, ar.close(), out.Close())
}

// addModules archives the modules and returns the order to load them in.
func addModules(ar *archive, dir, busybox string) (order []string, err error) {
	files, err := find(dir)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]string)
	for base, paths := range files {
		if name, rest, ok := strings.Cut(base, ".ko"); ok && (rest == "" || rest == ".xz") {
			byName[strings.ReplaceAll(name, "-", "_")] = paths[0]
		}
	}
	done := make(map[string]bool)
	var add func(name string) error
	add = func(name string) error {
		name = strings.ReplaceAll(name, "-", "_")
		p := byName[name]
		if p == "" || done[name] {
			return nil
		}
		done[name] = true
		data, err := readModule(p, busybox)
		if err != nil {
			return err
		}
		deps, err := dependencies(data)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		for _, d := range deps {
			if err := add(d); err != nil {
				return err
			}
		}
		ar.file("modules/"+name+".ko", 0o644, data)
		order = append(order, name+".ko")
		return nil
	}
	for _, m := range modules {
		if err := add(m); err != nil {
			return nil, err
		}
	}
	if !done["tipc"] {
		return nil, errors.New("rig: package user-mode-linux has no module tipc")
	}
	return order, nil
}

// readModule reads a module, with busybox's help if it is compressed.
func readModule(path, busybox string) ([]byte, error) {
	if !strings.HasSuffix(path, ".xz") {
		return os.ReadFile(path)
	}
	return exec.Command(busybox, "xz", "-dc", path).Output()
}

// dependencies reads which other modules a module needs.
func dependencies(module []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	s := f.Section(".modinfo")
	if s == nil {
		return nil, errors.New("rig: no section .modinfo")
	}
	info, err := s.Data()
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(info), "\x00") {
		if deps, ok := strings.CutPrefix(line, "depends="); ok {
			return strings.FieldsFunc(deps, func(r rune) bool { return r == ',' }), nil
		}
	}
	return nil, nil
}
