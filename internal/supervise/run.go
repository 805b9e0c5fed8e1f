// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// programEnv is of the process that becomes the program: two descriptors that it has besides the program's,
// and the program's path. To the first it writes the number of its listener, or why there is
// none; from the second it reads a byte once the supervisor has the listener.
const programEnv = "UTIPC_SUPERVISED_PROGRAM"

// Run runs a program with its arguments, the first of which is its name, and serves its AF_TIPC
// sockets by the daemon whose socket is at a path, until it and all that it has started have
// ended. again are the words that have this executable call Become. It returns the exit status of the program, 128 and the
// signal's number for one that a signal has ended. Errors: ErrNested, and those of the system.
func Run(socket, program string, again, args []string) (status int, err error) {
	reports, report, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer reports.Close()
	waits, proceed, err := os.Pipe()
	if err != nil {
		report.Close()
		return 0, err
	}
	cmd := exec.Command("/proc/self/exe", append(again, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", programEnv, report.Fd(), waits.Fd(), program))
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) { // else the program ignores it as well
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	// Not by ExtraFiles, which would take the numbers of what the program inherits.
	if err = inherited(report, waits); err == nil {
		err = cmd.Start()
	}
	report.Close()
	waits.Close()
	if err != nil {
		proceed.Close()
		return 0, err
	}
	l, err := takeListener(cmd.Process.Pid, reports)
	var s *supervisor
	if err == nil {
		s, err = newSupervisor(l, socket)
	}
	if err == nil {
		_, err = proceed.Write([]byte{1})
	}
	proceed.Close()
	if err != nil {
		_ = cmd.Wait()
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	served := make(chan struct{})
	go func() {
		s.serve()
		close(served)
	}()
	for over := served; ; {
		select {
		case s := <-signals: // a terminal sends its own to the program as well
			if s != unix.SIGINT && s != unix.SIGQUIT {
				_ = cmd.Process.Signal(s)
			}
		case <-over:
			return exitStatus(<-ended, cmd)
		}
	}
}

// inherited has files be those of processes that are started from now on, too.
func inherited(files ...*os.File) error {
	for _, f := range files {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return nil
}

func exitStatus(err error, cmd *exec.Cmd) (int, error) {
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return 0, err
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// takeListener takes the listener of the process, which waits.
func takeListener(pid int, reports *os.File) (listener, error) {
	line, err := bufio.NewReader(reports).ReadString('\n')
	if err != nil {
		return -1, fmt.Errorf("the program's process said nothing: %w", err)
	}
	word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	number, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return -1, fmt.Errorf("the program's process said %q", line)
	case word != "listener" && syscall.Errno(number) == unix.EBUSY:
		return -1, ErrNested
	case word != "listener":
		return -1, os.NewSyscallError("seccomp", syscall.Errno(number))
	}
	p, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(p)
	fd, err := unix.PidfdGetfd(p, number, 0)
	return listener(fd), os.NewSyscallError("pidfd_getfd", err)
}

// IsChild reports whether this process was started by Run: it calls Become.
func IsChild() bool { return os.Getenv(programEnv) != "" }

// Become gives this process the filter, and becomes the program that Run was called with. It returns
// only when that fails.
func Become(args []string) error {
	var to, from int
	if _, err := fmt.Sscanf(os.Getenv(programEnv), "%d %d ", &to, &from); err != nil {
		return fmt.Errorf("%s is set, and no supervisor has done so: %w", programEnv, err)
	}
	_, program, _ := strings.Cut(os.Getenv(programEnv), " ")
	_, program, _ = strings.Cut(program, " ")
	os.Unsetenv(programEnv)
	report, waits := os.NewFile(uintptr(to), "report"), os.NewFile(uintptr(from), "go")
	unix.CloseOnExec(to)
	unix.CloseOnExec(from)
	runtime.LockOSThread() // the filter is this thread's, and it is this one that becomes the program
	l, err := install()
	if err != nil {
		var e syscall.Errno
		errors.As(err, &e)
		fmt.Fprintf(report, "error %d\n", int(e))
		return err
	}
	fmt.Fprintf(report, "listener %d\n", int(l))
	report.Close()
	if _, err := waits.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("run %s: the supervisor is gone: %w", program, err)
	}
	return fmt.Errorf("run %s: %w", program, syscall.Exec(program, args, os.Environ()))
}
