// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strings"
)

// An archive is a gzipped cpio archive in the "newc" format, as the kernel
// unpacks it for its first root directory. Several may follow one another in
// one file; later files replace earlier ones. The first error sticks and
// close returns it.
type archive struct {
	z    *gzip.Writer
	ino  int
	dirs map[string]bool
	err  error
}

// File type bits of a mode.
const (
	modeDir     = 0o040000
	modeChar    = 0o020000
	modeFile    = 0o100000
	modeSymlink = 0o120000
)

func newArchive(w io.Writer, level int) *archive {
	z, err := gzip.NewWriterLevel(w, level)
	return &archive{z: z, dirs: map[string]bool{".": true}, err: err}
}

// file adds a file, and the directories above it that are not there yet.
func (a *archive) file(name string, perm uint32, data []byte) {
	a.entry(name, modeFile|perm, 0, 0, data)
}

// symlink adds a symbolic link.
func (a *archive) symlink(name, target string) {
	a.entry(name, modeSymlink|0o777, 0, 0, []byte(target))
}

// device adds a character device.
func (a *archive) device(name string, major, minor int) {
	a.entry(name, modeChar|0o600, major, minor, nil)
}

// dir adds a directory once, and those above it.
func (a *archive) dir(name string) {
	name = clean(name)
	if a.dirs[name] {
		return
	}
	a.dirs[name] = true
	a.entry(name, modeDir|0o755, 0, 0, nil)
}

func (a *archive) close() error {
	a.put("TRAILER!!!", 0, 0, 0, nil)
	if a.err != nil {
		return a.err
	}
	return a.z.Close()
}

func (a *archive) entry(name string, mode uint32, major, minor int, data []byte) {
	name = clean(name)
	a.dir(path.Dir(name))
	a.put(name, mode, major, minor, data)
}

func (a *archive) put(name string, mode uint32, major, minor int, data []byte) {
	if a.err != nil {
		return
	}
	a.ino++
	header := "070701"
	for _, v := range []int{
		a.ino, int(mode), 0, 0, // owner and group are root
		1, 0, len(data), // links, time, size
		0, 0, major, minor,
		len(name) + 1, 0, // no checksum in this format
	} {
		header += fmt.Sprintf("%08X", v)
	}
	header += name + "\x00"
	for _, part := range []string{header, string(data)} {
		part += strings.Repeat("\x00", -len(part)&3)
		if _, a.err = io.WriteString(a.z, part); a.err != nil {
			return
		}
	}
}

// clean makes a guest path relative to the root, as the archive wants it.
func clean(name string) string { return path.Clean(strings.TrimLeft(name, "/")) }
