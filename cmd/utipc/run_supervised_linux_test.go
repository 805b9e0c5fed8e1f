// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// supervisedSource is a program with an argument that says what it does.
const supervisedSource = `#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

static void written(int fd)
{
	long n = write(fd, "lost", 4);
	printf("%ld %s\n", n, n < 0 ? strerror(errno) : "");
}

static void *of_a_thread(void *leader)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof a;
	pthread_join(*(pthread_t *)leader, NULL);
	int fd = socket(30, SOCK_RDM, 0);
	getsockname(fd, (struct sockaddr *)&a, &len);
	printf("family %d\n", a.ss_family);
	exit(0);
}

int main(int n, char **a)
{
	int fds[2];
	static pthread_t own, other;
	if (n > 1 && strcmp(a[1], "write") == 0) {
		written(socket(30, SOCK_RDM, 0));
		written(socket(30, SOCK_DGRAM, 0));
		socketpair(30, SOCK_RDM, 0, fds);
		written(fds[0]);
		written(fds[1]);
		char b[8] = "";
		printf("%ld", (long)send(fds[0], "sent", 4, 0));
		printf(" %ld", (long)recv(fds[1], b, sizeof b, 0));
		printf(" %s\n", b);
		socketpair(30, SOCK_STREAM, 0, fds);
		written(fds[0]);
	}
	if (n > 1 && strcmp(a[1], "thread") == 0) {
		own = pthread_self();
		pthread_create(&other, NULL, of_a_thread, &own);
		pthread_exit(NULL);
	}
	return 0;
}
`

// supervised runs a program as utipc run does, and returns what it prints.
func supervised(t *testing.T, files []*os.File, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"run", "--how", howSeccomp}, args...)...)
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("run %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// compiled compiles supervisedSource to a static program.
func compiled(t *testing.T) string {
	t.Helper()
	tier.SkipShort(t, "a C compiler")
	if _, err := exec.LookPath("cc"); err != nil {
		tier.Missing(t, "there is no C compiler (cc): install gcc and libc6-dev")
	}
	program := filepath.Join(t.TempDir(), "supervised")
	cmd := exec.CommandContext(t.Context(), "cc", "-static", "-pthread", "-x", "c", "-o", program, "-")
	cmd.Stdin = bytes.NewReader([]byte(supervisedSource))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// What write(2) would lose it refuses. Mutations it catches: make does not seal; socketpair does not;
// sealMessages seals connected kinds.
//
// Proves: plain.supervised
func TestSupervisedWriteOfMessages(t *testing.T) {
	program := compiled(t)
	socket, _ := served(t, liveBed(t, 1)[0])
	const refused = "-1 Broken pipe\n"
	if got, want := supervised(t, nil, "--socket", socket, "--", program, "write"), refused+refused+refused+refused+"4 4 sent\n4 \n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The calls of a thread are served after the first thread of its process has ended. Mutation it
// catches: open opens the process.
//
// Proves: plain.supervised
func TestSupervisedThreadWithoutLeader(t *testing.T) {
	program := compiled(t)
	socket, _ := served(t, liveBed(t, 1)[0])
	if got, want := supervised(t, nil, "--socket", socket, "--", program, "thread"), "family 30\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A program has the descriptors that utipc run has, under their numbers. Mutation it catches: Run passes
// its own in their place.
//
// Proves: plain.supervised
func TestSupervisedDescriptors(t *testing.T) {
	tier.SkipShort(t, "processes")
	var files []*os.File
	for _, text := range []string{"third ", "fourth ", "fifth"} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	if got, want := supervised(t, files, "--", "sh", "-c", "cat <&3; cat <&4; cat <&5"), "third fourth fifth"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A program that ignores SIGHUP, as nohup has it, does so under the supervisor. Mutation it catches:
// Run takes signals that are ignored.
//
// Proves: plain.supervised
func TestSupervisedNohup(t *testing.T) {
	tier.SkipShort(t, "processes")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = `trap "" HUP; exec "$0" run --how seccomp -- sh -c 'kill -HUP $$; echo goes on'`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, self)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "goes on\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A program whose supervisor has not got the listener is not begun: all its calls on sockets would
// fail. Mutation it catches: Become goes on at the end of the pipe.
//
// Proves: plain.supervised
func TestSupervisedWithoutSupervisor(t *testing.T) {
	tier.SkipShort(t, "processes")
	report, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	waits, proceed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	proceed.Close()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "run", "--", "sh", "-c", "echo begun")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), "UTIPC_SUPERVISED_PROGRAM=3 4 /bin/sh"), []*os.File{report, waits}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "the supervisor is gone") {
		t.Errorf("%v\n%s", err, out)
	}
}
