// SPDX-License-Identifier: Apache-2.0

package test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/tier"
)

// test/apt waits while another program holds a lock of the package manager, each of them, and
// ends with an error that is none at once. The lists and the packages are the test's own, and empty.
//
// Mutations it catches, in test/apt: no repetition; repetition of errors of all kinds.
func TestAptWaitsForLocks(t *testing.T) {
	tier.SkipShort(t, "apt-get")
	if _, err := exec.LookPath("apt-get"); err != nil {
		tier.Missing(t, "no apt-get: the machine is none of Debian's")
	}
	for _, c := range []struct{ lock, command string }{
		{"state/lists/lock", "update"},
		{"cache/archives/lock", "install"},
		{"dpkg/lock-frontend", "install"},
		{"", "no-such-command"},
	} {
		t.Run(c.command+" "+c.lock, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, d := range []string{"state/lists/partial", "cache/archives/partial", "dpkg", "etc/apt.conf.d", "etc/preferences.d", "etc/sources.list.d"} {
				check(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
			}
			for _, f := range []string{"dpkg/status", "etc/sources.list"} {
				check(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
			}
			config := fmt.Sprintf("Dir::State \"%[1]s/state\";\nDir::Cache \"%[1]s/cache\";\nDir::Etc \"%[1]s/etc\";\nDir::State::status \"%[1]s/dpkg/status\";\nAPT::Sandbox::User \"root\";\n", dir)
			check(t, os.WriteFile(filepath.Join(dir, "apt.conf"), []byte(config), 0o644))
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "./apt", c.command)
			cmd.Env = append(os.Environ(), "APT_CONFIG="+filepath.Join(dir, "apt.conf"))
			if c.lock == "" {
				if out, err := cmd.CombinedOutput(); err == nil || ctx.Err() != nil || !strings.Contains(string(out), "Invalid operation") {
					t.Fatalf("%v\n%s", err, out)
				}
				return
			}
			lock, err := os.OpenFile(filepath.Join(dir, c.lock), os.O_CREATE|os.O_RDWR, 0o640)
			check(t, err)
			defer lock.Close()
			check(t, unix.FcntlFlock(lock.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
			var out strings.Builder
			cmd.Stdout = &out
			stderr, err := cmd.StderrPipe()
			check(t, err)
			check(t, cmd.Start())
			if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.Contains(line, "Could not get lock") {
				t.Errorf("it did not wait: %q, %v", line, err)
			}
			check(t, lock.Close()) // and the lock is gone
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
}

// A server that test/apt installs is not started: the program that Debian asks is there meanwhile, and
// gone afterwards. One that was there before stays as it is.
//
// Mutations it catches, in test/apt: policy is not made; it stays; it takes the place of another.
func TestAptStartsNoService(t *testing.T) {
	for _, c := range []struct{ name, command, before, want, after string }{
		{"install", "install", "", "101", ""},
		{"update", "update", "", "none", ""},
		{"another policy", "install", "#!/bin/sh\nexit 7\n", "7", "#!/bin/sh\nexit 7\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			policy := filepath.Join(dir, "policy")
			if c.before != "" {
				check(t, os.WriteFile(policy, []byte(c.before), 0o755))
			}
			check(t, os.WriteFile(filepath.Join(dir, "apt-get"), []byte("#!/bin/sh\nif [ -e \"$UTIPC_APT_POLICY\" ]; then \"$UTIPC_APT_POLICY\"; echo $?; else echo none; fi\n"), 0o755))
			cmd := exec.Command("./apt", c.command, "nginx")
			cmd.Env = append(os.Environ(), "UTIPC_APT_POLICY="+policy, "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("%q, %v; want %s", got, err, c.want)
			}
			if after, _ := os.ReadFile(policy); string(after) != c.after { // not there: empty
				t.Errorf("afterwards the policy is %q, want %q", after, c.after)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
