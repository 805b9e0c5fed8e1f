// SPDX-License-Identifier: Apache-2.0

package software

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
	"github.com/utipc/utipc/test/preload"
)

const guestTime = 10 * time.Minute

// guestFiles are what all programs need in a guest, by their paths there. A program of this
// folder is at the same path below the root.
func guestFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range programs {
		for _, file := range p.needs(t, p.path(t)) {
			files[inGuestPath(file)] = file
		}
		if p.script != "" {
			files["/"+p.script] = p.script
		}
	}
	for _, file := range pythonFiles(t, "libpython3-testsuite", preload.Python(t), "import test.test_socket, unittest.async_case; print(unittest.__file__.replace('__init__', '__main__'))") {
		files[file] = file
	}
	dir := buildZeroMQ(t)
	for name := range zeromqTests {
		file := filepath.Join(dir, name)
		files[inGuestPath(file)] = file
		for _, library := range linked(t, file) {
			files[library] = library
		}
	}
	return files
}

// inGuestPath is where a file is in a guest: what the test has built is elsewhere there.
func inGuestPath(file string) string {
	if filepath.Dir(file) == preload.Folder() {
		return "/bin/" + filepath.Base(file)
	}
	return file
}

// startGuests boots two kernels that a cable connects.
func startGuests(ctx context.Context, t *testing.T, files map[string]string) [2]*rig.Guest {
	t.Helper()
	var links [2]rig.Link
	var err error
	if links[0], links[1], err = rig.NewPair([]byte{2, 0, 0, 0, 0, 1}, []byte{2, 0, 0, 0, 0, 2}); err != nil {
		t.Fatal(err)
	}
	image := rig.Require(t)
	var guests [2]*rig.Guest
	started := make(chan error, len(guests))
	for i := range guests {
		t.Cleanup(func() { links[i].Close() })
		go func() {
			var err error
			guests[i], err = rig.Start(ctx, image, rig.Options{
				Name: fmt.Sprint("n", i+1), Address: fmt.Sprintf("1.1.%d", i+1), Links: links[i : i+1], Enable: true, Tolerance: 30 * time.Second,
				Mem: 384, Files: files,
			})
			started <- err
		}()
	}
	for range guests {
		err = errors.Join(err, <-started)
	}
	for _, g := range guests {
		if g != nil {
			t.Cleanup(func() { g.Close() })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return guests
}

// inGuest runs a program of this folder in a guest.
func inGuest(ctx context.Context, g *rig.Guest, command ...string) (string, error) {
	command[0] = inGuestPath(command[0])
	out, err := g.Run(ctx, "cd / && export PATH=$PATH:/usr/bin PYTHONDONTWRITEBYTECODE=1 && "+strings.Join(command, " "))
	return out + "\n", err
}

// What programs print with the library is what they print with a kernel's TIPC, on one node and
// on two; and ZeroMQ's and CPython's own tests pass as there, with no more skips. Mutation: a line of what a program prints is changed.
//
// Proves: plain.software
func TestKernel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), guestTime)
	defer cancel()
	files := guestFiles(t)
	guests := startGuests(ctx, t, files)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			out, err := inGuest(ctx, guests[0], p.command(t, "one")...)
			if err != nil {
				t.Error(err)
			}
			p.check(t, "in a guest", "one", out)
			twoParts(t, &p, "in two guests", func(ctx context.Context, i int, command []string) (string, error) {
				return inGuest(ctx, guests[i], command...)
			})
		})
	}
	t.Run("CPython", func(t *testing.T) {
		out, err := inGuest(ctx, guests[0], append([]string{preload.Python(t)}, preload.PythonTests...)...)
		if err != nil {
			t.Error(err)
		}
		preload.CheckPython(t, out)
	})
	for name, want := range zeromqTests {
		t.Run(name, func(t *testing.T) {
			if out, err := inGuest(ctx, guests[0], "/bin/"+name); err != nil || !strings.Contains(out, want) {
				t.Errorf("want %s: %v\n%s", want, err, out)
			}
		})
	}
}
