// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/channel"
)

// boot brings the guest up as its kernel command line says and then serves
// the host. What goes wrong on the way is told to the host in the hello: a
// guest that cannot speak is the only one that panics.
//
//	rig.line=DEVICE rig.name=NAME rig.netid=N rig.address=A rig.identity=ID rig.tolerance=MS rig.bearers=N rig.pluggable=1
func boot() {
	var problems []error
	try := func(what string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", what, err))
		}
	}
	os.Setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
	os.Setenv("HOME", "/tmp")
	// Signals of Go's scheduler would have calls that wait begun again, and a connect that
	// is begun again fails if it was answered meanwhile.
	os.Setenv("GODEBUG", "asyncpreemptoff=1")
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}} {
		try("mount "+m[0], unix.Mount(m[0], m[1], m[0], 0, ""))
	}
	try("busybox", run("/bin/busybox", "--install", "-s", "/bin"))
	try("modules", loadModules("/modules"))

	words := commandLine()
	if name := words["rig.name"]; name != "" {
		try("hostname", unix.Sethostname([]byte(name)))
	}
	try("interfaces", interfacesUp(words["rig.pluggable"] != ""))
	// The cluster's number and the identity cannot be set after the address.
	for _, what := range []string{"netid", "identity", "address"} {
		if v := words["rig."+what]; v != "" {
			try("set "+what, run("tipc", "node", "set", what, v))
		}
	}
	if v := words["rig.tolerance"]; v != "" {
		for _, media := range []string{"eth", "udp"} {
			try("tolerance", run("tipc", "media", "set", "tolerance", v, "media", media))
		}
	}
	n, _ := strconv.Atoi(words["rig.bearers"])
	for i := range n {
		try("bearer", run("tipc", "bearer", "enable", "media", "eth", "device", "eth"+strconv.Itoa(i)))
	}

	line, err := openLine(words["rig.line"])
	if err != nil {
		panic(err)
	}
	a := newAgent(line)
	hello := channel.Message{Op: channel.Hello, Args: []string{release()}}
	if err := errors.Join(problems...); err != nil {
		hello.Text = err.Error()
	}
	if err := a.out.Send(hello); err != nil {
		panic(err)
	}
	panic(a.serve(line))
}

// commandLine returns the words KEY=VALUE of the kernel's command line.
func commandLine() map[string]string {
	b, _ := os.ReadFile("/proc/cmdline")
	words := make(map[string]string)
	for _, w := range strings.Fields(string(b)) {
		k, v, _ := strings.Cut(w, "=")
		words[k] = v
	}
	return words
}

// loadModules inserts the modules that dir/order names, in that order.
func loadModules(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(b)) {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		options := ""
		if name == "ipv6.ko" {
			options = "disable_ipv6=1" // its chatter would be in every test's way
		}
		err = unix.FinitModule(int(f.Fd()), options, 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("insert %s: %w", name, err)
		}
	}
	return nil
}

// interfacesUp sets the interfaces ethN up; those of user-mode-linux, vecN, get that
// name first. A pluggable ethN is another interface on top of vecN: a vector
// interface loses its descriptor for good when it is set down, and has no carrier
// to lose, nor has a virtio interface one that could be taken from inside.
func interfacesUp(pluggable bool) error {
	batch := "link set dev lo up\n"
	for _, kind := range []string{"vec", "eth"} {
		all, err := filepath.Glob("/sys/class/net/" + kind + "*")
		if err != nil {
			return err
		}
		for _, path := range all {
			n := strings.TrimPrefix(filepath.Base(path), kind)
			name := map[bool]string{false: "eth", true: "vec"}[pluggable] + n
			if name != kind+n {
				batch += fmt.Sprintf("link set dev %s%s name %s\n", kind, n, name)
			}
			batch += fmt.Sprintf("link set dev %s up\n", name)
			if pluggable {
				batch += fmt.Sprintf("link add link %s name eth%s type macvlan mode passthru\nlink set dev eth%s up\n", name, n, n)
			}
		}
	}
	c := exec.Command("ip2", "-batch", "-")
	c.Stdin = strings.NewReader(batch)
	return silent(c)
}

func run(name string, args ...string) error { return silent(exec.Command(name, args...)) }

// silent runs c; what c printed becomes part of its error.
func silent(c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return err.Error()
	}
	return unix.ByteSliceToString(u.Release[:])
}

// lineTimeout is how long the host's line may take to appear.
const lineTimeout = 30 * time.Second

// openLine opens the host's end of the conversation, see package channel: a
// terminal line, without echo, editing or signals, or an emulator's port, which is
// none of these. Reads and writes block.
func openLine(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	for begin := time.Now(); errors.Is(err, unix.ENOENT) && time.Since(begin) < lineTimeout; {
		time.Sleep(time.Millisecond)
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if errors.Is(err, unix.ENOTTY) {
		return f, nil
	}
	if err != nil {
		return nil, &os.PathError{Op: "get attributes of", Path: path, Err: err}
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return nil, &os.PathError{Op: "set attributes of", Path: path, Err: err}
	}
	return f, nil
}
