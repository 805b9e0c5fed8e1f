// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// daemonAt has a test's binary be a daemon at the path that it gives.
const daemonAt = "UTIPC_TEST_DAEMON"

// Main is a TestMain of tests that call StartDaemon: it runs m's tests, or is a daemon. It does not return.
func Main(m *testing.M) {
	if path := os.Getenv(daemonAt); path != "" {
		fmt.Println(beDaemon(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beDaemon serves a node that is alone, until the process is killed or its input ends.
func beDaemon(path string) error {
	n, err := stack.Open(context.Background(), stack.Config{NoBearers: true, Address: 1})
	if err != nil {
		return err
	}
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		return err
	}
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("ready")
	return srv.Serve(l)
}

// StartDaemon starts a daemon as a process, and waits until it is there. Kill kills it, as the end of the test does.
func StartDaemon(t *testing.T, path string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), daemonAt+"="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		c.Process.Kill()
		c.Wait()
		in.Close()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the daemon says %q, %v", line, err)
	}
	return kill
}
