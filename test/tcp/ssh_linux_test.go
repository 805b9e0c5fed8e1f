// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// run runs a program that has nothing to do with hosts.
func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

const sshdConf = `
Port 2222
ListenAddress 0.0.0.0
HostKey %[1]s/host
AuthorizedKeysFile %[1]s/key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
Subsystem sftp internal-sftp
`

// sshd, whose processes for each connection give up their rights, runs a command, and serves scp and rsync both ways.
//
// Proves: tcp.ssh
func TestSSH(t *testing.T) {
	sshd, ssh := installed(t, "sshd", "openssh-server"), installed(t, "ssh", "openssh-client")
	scp, rsync := installed(t, "scp", "openssh-client"), installed(t, "rsync", "rsync")
	h := twoKernels(t)
	dir := t.TempDir()
	for _, key := range []string{"host", "key"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, sshdConf, dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where its processes are that have no rights
		t.Fatal(err)
	}
	h[0].serve(t, "Server listening on 0.0.0.0", sshd, "-D", "-e", "-f", conf)
	options := []string{"-F", "none", "-i", filepath.Join(dir, "key"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "Port=2222"}
	through(t, h[0], h[1], 1, 1000, func() {
		if out := h[1].run(t, ssh, append(options, "root@"+h[0].address, "echo", "hello")...); out != "hello\n" {
			t.Errorf("the command says %q", out)
		}
	})
	const size = 5_000_000
	want := file(t, dir, "file", size)
	same := func(name string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
	compare(t, h, 2, 2*size, "MB/s", func(address string) float64 {
		begin, there := time.Now(), "root@"+address+":"+dir
		h[1].run(t, scp, append(options, filepath.Join(dir, "file"), there+"/there")...)
		h[1].run(t, scp, append(options, there+"/there", filepath.Join(dir, "back"))...)
		took := time.Since(begin)
		same("there")
		same("back")
		return 2 * size / 1e6 / took.Seconds()
	})
	how := ssh
	for _, o := range options {
		how += " " + o
	}
	compare(t, h, 1, size, "MB/s", func(address string) float64 {
		begin, name := time.Now(), "by"+address
		h[1].run(t, rsync, "-e", how, "--whole-file", filepath.Join(dir, "file"), "root@"+address+":"+filepath.Join(dir, name))
		took := time.Since(begin)
		same(name)
		return size / 1e6 / took.Seconds()
	})
}
