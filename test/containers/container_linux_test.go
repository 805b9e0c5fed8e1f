// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// timeout is how long anything may take on a machine that has other work.
const timeout = 2 * time.Minute

// What programs are told: how long they wait, and how long a peer may be silent, as one is
// that stands still for seconds where others want the machine too.
const (
	waiting   = "90s"
	tolerance = "20s"
)

// Environment of this binary as the first program of a container.
const (
	initRoot     = "UTIPC_TEST_CONTAINER_ROOT"     // of its files
	initSocket   = "UTIPC_TEST_CONTAINER_SOCKET"   // directory to be mounted on /run/utipc
	initReadOnly = "UTIPC_TEST_CONTAINER_READONLY" // whether that is mounted read-only
	initProc     = "UTIPC_TEST_CONTAINER_PROC"     // whether there is a /proc
	initUser     = "UTIPC_TEST_CONTAINER_USER"     // who runs the program; empty is root
	initRights   = "UTIPC_TEST_CONTAINER_RIGHTS"   // a bit for each of that user's capabilities
)

// TestMain is also what a container runtime does inside of the new namespaces: it mounts
// what the container may see, goes there, and becomes the container's program.
func TestMain(m *testing.M) {
	root := os.Getenv(initRoot)
	if root == "" {
		code := m.Run()
		if built.dir != "" {
			os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}
	fmt.Fprintln(os.Stderr, "container:", enter(root, os.Getenv(initSocket)))
	os.Exit(125)
}

func enter(root, socket string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if socket != "" {
		if err := unix.Mount(socket, filepath.Join(root, "run/utipc"), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount the socket's directory: %w", err)
		}
		if os.Getenv(initReadOnly) != "" {
			if err := unix.Mount("", filepath.Join(root, "run/utipc"), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
				return fmt.Errorf("make it read-only: %w", err)
			}
		}
	}
	if os.Getenv(initProc) != "" {
		if err := unix.Mount("/proc", filepath.Join(root, "proc"), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount /proc: %w", err)
		}
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if user := os.Getenv(initUser); user != "" {
		id, _ := strconv.Atoi(user)
		caps, _ := strconv.ParseUint(os.Getenv(initRights), 10, 64)
		if err := become(id, caps); err != nil {
			return fmt.Errorf("become user %d: %w", id, err)
		}
	}
	return unix.Exec("/utipc", append([]string{"/utipc"}, os.Args[1:]...), nil)
}

// become makes the thread, which stays locked, a user's who has these capabilities, and
// whose programs have them too.
func become(id int, caps uint64) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return err
	}
	for _, set := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(id, id, id) },
		func() error { return syscall.Setresuid(id, id, id) },
	} {
		if err := set(); err != nil {
			return err
		}
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for i := range data {
		word := uint32(caps >> (32 * i))
		data[i] = unix.CapUserData{Effective: word, Permitted: word, Inheritable: word}
	}
	if err := unix.Capset(&h, &data[0]); err != nil {
		return err
	}
	for n := range 64 {
		if caps>>n&1 == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(n), 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// built is the static binary, once for all tests, in a directory that everybody may read.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// image makes a container's files: the static binary and an empty /run/utipc, as an image
// from packaging/Dockerfile has them.
func image(t *testing.T) (root string) {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "utipc-containers-"); built.err != nil {
			return
		}
		os.Chmod(built.dir, 0o755)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(built.dir, "utipc"), "github.com/utipc/utipc/cmd/utipc")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	root, err := os.MkdirTemp(built.dir, "root-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	for _, dir := range []string{"", "proc", "run", "run/utipc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Chmod(filepath.Join(root, dir), 0o755)
	}
	if err := os.Link(filepath.Join(built.dir, "utipc"), filepath.Join(root, "utipc")); err != nil {
		t.Fatal(err)
	}
	return root
}

// A container is how a program is run.
type container struct {
	net    *netns.NS // its network namespace; nil is a new one, without any interface
	ids    int       // the host's number of its root, and of its root's group; 0 is no user namespace
	socket string    // directory of the daemon's socket, or empty
	proc   bool      // whether /proc is there
	user   int       // who runs the program inside; 0 is root
	caps   uint64    // a bit for each capability that another than root has
}

// command makes a command of the container that runs /utipc with the arguments.
func (c container) command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	root := image(t)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Env = []string{initRoot + "=" + root, initSocket + "=" + c.socket}
	if c.proc {
		cmd.Env = append(cmd.Env, initProc+"=1")
	}
	if c.user != 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", initUser, c.user), fmt.Sprintf("%s=%d", initRights, c.caps))
	}
	a := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS, Pdeathsig: unix.SIGKILL}
	if c.net == nil {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if c.ids == 0 {
		cmd.Env = append(cmd.Env, initReadOnly+"=1")
	} else {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: c.ids, Size: 1000}}
		a.GidMappings = a.UidMappings
		a.GidMappingsEnableSetgroups = true
		a.Credential = &syscall.Credential{}
	}
	cmd.SysProcAttr = a
	return cmd
}

// start starts cmd in the network namespace; with nil that is the test's, or a new one. The
// thread that starts a process is its parent as Pdeathsig has it.
func start(t *testing.T, ns *netns.NS, cmd *exec.Cmd) {
	t.Helper()
	var err error
	if ns != nil {
		ns.Do(func() { err = cmd.Start() })
	} else {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
}

// A server is a program that runs until stop; its first line of output is there.
type server struct {
	first string
	cmd   *exec.Cmd
	errs  bytes.Buffer
	out   io.Reader
	once  sync.Once
}

// serve starts cmd and waits for its first line of output, or its end.
func serve(t *testing.T, ns *netns.NS, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{cmd: cmd}
	cmd.Stderr = &s.errs
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, ns, cmd)
	t.Cleanup(s.stop)
	r := bufio.NewReader(pipe)
	s.first, _ = r.ReadString('\n')
	s.out = r
	return s
}

// stop interrupts the program and waits for its end.
func (s *server) stop() {
	s.once.Do(func() {
		s.cmd.Process.Signal(unix.SIGTERM)
		io.Copy(io.Discard, s.out)
		s.cmd.Wait()
	})
}

// said is what a program that has ended wrote to the standard error.
func (s *server) said() string {
	s.stop()
	return s.errs.String()
}

// output runs cmd to its end.
func output(t *testing.T, ns *netns.NS, cmd *exec.Cmd) (out string, status int) {
	t.Helper()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	start(t, ns, cmd)
	cmd.Wait()
	return b.String(), cmd.ProcessState.ExitCode()
}

// within ends with the test, or when it has taken too long.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// require skips the test where namespaces cannot be made.
func require(t *testing.T) {
	t.Helper()
	netns.Require(t)
	if os.Geteuid() != 0 {
		tier.Missing(t, "containers are made by root")
	}
}

// wantPing checks that all pings were answered.
func wantPing(t *testing.T, what, out string, status int) {
	t.Helper()
	if status != 0 || !strings.Contains(out, "5 sent, 5 answered, 0 lost") {
		t.Errorf("%s: got status %d, %q, want 5 answers", what, status, out)
	}
}
