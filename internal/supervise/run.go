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

// programEnv has the program's path in the process that becomes it.
const programEnv = "UTIPC_SUPERVISED_PROGRAM"

// The descriptors that such a process has, besides the first three.
const (
	reportFD = 3 // there it writes the number of its listener, or why there is none
	goFD     = 4 // this ends once the supervisor has the listener
)

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
	cmd.Env = append(os.Environ(), programEnv+"="+program)
	cmd.ExtraFiles = []*os.File{report, waits}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2)
	defer signal.Stop(signals)
	err = cmd.Start()
	report.Close()
	waits.Close()
	if err != nil {
		proceed.Close()
		return 0, err
	}
	l, err := takeListener(cmd.Process.Pid, reports)
	proceed.Close()
	if err != nil {
		_ = cmd.Wait()
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	served := make(chan struct{})
	go func() {
		newSupervisor(l, socket).serve()
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
	program := os.Getenv(programEnv)
	os.Unsetenv(programEnv)
	report, waits := os.NewFile(reportFD, "report"), os.NewFile(goFD, "go")
	unix.CloseOnExec(reportFD)
	unix.CloseOnExec(goFD)
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
	_, _ = waits.Read(make([]byte, 1))
	return fmt.Errorf("run %s: %w", program, syscall.Exec(program, args, os.Environ()))
}
