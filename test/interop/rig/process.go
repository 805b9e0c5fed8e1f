// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcher runs "$@" and leaves a watcher behind, in a session of its own,
// that kills the process group when file 3 ends without a line, which is when
// the test process is no more, and removes the working directory. File 4 is
// the serial line: the watcher must not hold it open.
const launcher = `(exec 4<&- >/dev/null 2>&1; setsid sh -c 'read -r x <&3 || { kill -s KILL -- "-$1"; rm -rf "$2"; }' sh $$ "$PWD" &)
exec 3<&-
exec "$@"`

// A process is a running guest: of user-mode-linux several processes in one group,
// led by the kernel proper.
type process struct {
	cmd      *exec.Cmd
	dir      string   // for what it leaves behind
	lifeline *os.File // see launcher
	console  *tail
	done     chan struct{} // closed once it has ended and been cleaned up after

	mu    sync.Mutex // guards what follows
	ended bool       // the leader has been waited for: its id may be another's
}

// firstLink is the file number of the first link in the guest's process.
const firstLink = 5

// spawn starts a kernel; files become its file numbers from firstLink-1 on, the
// first being the serial line.
func spawn(args []string, memory uint64, files ...*os.File) (*process, error) {
	dir, err := os.MkdirTemp("", "utipc-rig-")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, console: new(tail), done: make(chan struct{})}
	watched, lifeline, err := os.Pipe()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	defer watched.Close()
	read, write, err := os.Pipe()
	if err != nil {
		lifeline.Close()
		os.RemoveAll(dir)
		return nil, err
	}
	defer write.Close()
	p.lifeline = lifeline
	words := append([]string{"-c", launcher, "sh"}, args...)
	p.cmd = exec.Command("/bin/sh", words...)
	p.cmd.Dir = dir
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + dir,
		"PWD=" + dir,
		"TMPDIR=" + memoryDir(dir, memory),
		// Else its processes may die with "expected SIGSTOP".
		"GLIBC_TUNABLES=glibc.pthread.rseq=0",
	}
	p.cmd.Stdout, p.cmd.Stderr = write, write
	p.cmd.ExtraFiles = append([]*os.File{watched}, files...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.cmd.Start(); err != nil {
		read.Close()
		lifeline.Close()
		os.RemoveAll(dir)
		return nil, fmt.Errorf("rig: start the kernel: %w", err)
	}
	go func() {
		io.Copy(p.console, read)
		read.Close()
	}()
	go p.wait()
	return p, nil
}

// wait cleans up once the leader has ended, however it ended.
func (p *process) wait() {
	// Do not reap it yet: while it is a zombie the group's id is ours.
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.kill()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.cmd.Wait()
	io.WriteString(p.lifeline, "\n")
	p.lifeline.Close()
	os.RemoveAll(p.dir)
	close(p.done)
}

// kill ends all processes of the group, at once.
func (p *process) kill() error { return p.signal(-1, syscall.SIGKILL) }

// signal sends to the group (to is -1) or to its leader alone (1).
func (p *process) signal(to int, s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil
	}
	return os.NewSyscallError("kill", syscall.Kill(to*p.cmd.Process.Pid, s))
}

// memoryDir chooses where the guest's memory lives: a file, deleted at once,
// that must be mapped executable. Shared memory costs no disk writes, but in
// containers it is often small or not executable.
func memoryDir(fallback string, memory uint64) string {
	const shm = "/dev/shm"
	var s unix.Statfs_t
	if unix.Statfs(shm, &s) == nil && s.Flags&unix.ST_NOEXEC == 0 && s.Bavail*uint64(s.Bsize) > 4*memory && unix.Access(shm, unix.W_OK) == nil {
		return shm
	}
	return filepath.Clean(fallback)
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex // guards b
	b  []byte
}

const tailLen = 32 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - tailLen; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
