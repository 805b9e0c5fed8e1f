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
	"strings"
)

// buildKernel makes the directory dir: a kernel and an archive of the modules it
// loads at boot. busybox is the path of a program that can unpack them.
func buildKernel(ctx context.Context, a *apt, f Flavour, name, busybox, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	unpacked, made := filepath.Join(tmp, "unpacked"), filepath.Join(tmp, "made")
	if err := a.unpack(ctx, name, unpacked); err != nil {
		return err
	}
	kernel, modules, err := f.files(unpacked)
	if err != nil {
		return err
	}
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := writeModules(filepath.Join(made, modulesArchive), f, modules, busybox); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "release"), []byte(filepath.Base(modules)), 0o644); err != nil {
		return err
	}
	if f == UML {
		if err := errors.Join(widenXState(kernel), noHelper(kernel)); err != nil {
			return err
		}
	}
	if err := os.Rename(kernel, filepath.Join(made, "kernel")); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

// writeModules archives the modules that a flavour loads, and the order to do it in.
func writeModules(path string, f Flavour, dir, busybox string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	ar := newArchive(out, gzip.DefaultCompression)
	order, err := addModules(ar, f, dir, busybox)
	if err != nil {
		return err
	}
	ar.file("modules/order", 0o644, []byte(strings.Join(order, "\n")+"\n"))
	return errors.Join(ar.close(), out.Close())
}

// addModules archives the modules and returns the order to load them in.
func addModules(ar *archive, f Flavour, dir, busybox string) (order []string, err error) {
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
	for _, m := range f.modules() {
		if err := add(m); err != nil {
			return nil, err
		}
	}
	if !done["tipc"] {
		return nil, fmt.Errorf("rig: kernel %s has no module tipc", f)
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
