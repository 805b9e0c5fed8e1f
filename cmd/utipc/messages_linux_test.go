// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/test/netns"
)

// messagesPage begins docs/reference/messages.md; the tables of mistakes follow.
const messagesPage = `<!-- SPDX-License-Identifier: Apache-2.0 -->
# Messages

For those who read a message of ` + "`utipc`" + ` and want to know what to do. A message says in one sentence what is wrong, with
which value, and what helps. Messages go to the standard error, data to the standard output.

## Exit status

| status | meaning |
|---|---|
| 0 | done |
| 1 | failed: the command was right, and what it asked for could not be done |
| 2 | misused: the command line or the settings are wrong; the service does not try them again |
| 255 | the words of tipc(8) (` + "`bearer`, `link`, `media`, `nametable`, `node`, `peer`, `socket`" + `) failed, whatever the reason, as there |
| of the program | ` + "`utipc run`" + `, once the program runs |

## Usual mistakes

` + "The tables are written by `go test ./cmd/utipc -run TestMessages -update`, which makes each mistake: `/tmp/x` is its folder, N a number.\n"

// varying is what differs from run to run.
var varying = regexp.MustCompile(`(pid |=)\d+`)

// Each mistake gives a sentence that says what is wrong and what to do, and the status that the
// page says.
//
// Mutations it catches: no hint on the nearest flag, command, word or setting; remedy without
// the line of a reason; a status of 1 for settings that are wrong.
func TestMessages(t *testing.T) {
	netns.Require(t)
	if !inOwnProcess(t) {
		return
	}
	dir, err := os.MkdirTemp("/tmp", "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // after the daemons in it
	ns := mistakesNamespace(t, dir)
	got := make([][]string, len(mistakes))
	t.Run("all", func(t *testing.T) {
		for g, group := range mistakes {
			got[g] = make([]string, len(group.all))
			for i, m := range group.all {
				t.Run(m.name, func(t *testing.T) {
					t.Parallel()
					said, status := makeMistake(ns, dir, m)
					if got[g][i] = said; status != m.status || said != m.want && !*update {
						t.Errorf("utipc %s: status %d,\n%s\nwant %d,\n%s", m.args, status, said, m.status, m.want)
					}
				})
			}
		}
	})
	if !t.Failed() {
		checkMessagesPage(t, got)
	}
}

// makeMistake runs the command and returns what it says, and its status.
func makeMistake(ns *netns.NS, dir string, m mistake) (said string, status int) {
	var err error
	var args []string
	for _, a := range strings.Fields(m.args) {
		a = strings.ReplaceAll(a, "{dir}", dir)
		args = append(args, strings.ReplaceAll(a, "{words}", "medium ib device eth1"))
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = "/"
	if m.nobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ns.Do(func() { err = cmd.Start() })
	if err != nil {
		return err.Error(), -1
	}
	cmd.Wait()
	var lines []string
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "time=") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	said = strings.ReplaceAll(strings.Join(lines, "\n"), dir, "{dir}")
	if bin, err := os.Executable(); err == nil {
		said = strings.ReplaceAll(said, bin, "{program}")
	}
	return varying.ReplaceAllString(said, "${1}N"), cmd.ProcessState.ExitCode()
}

// mistakesNamespace makes what the mistakes stumble over: two interfaces, files, a daemon, and
// nodes over UDP.
func mistakesNamespace(t *testing.T, dir string) *netns.NS {
	t.Helper()
	ns, other := netns.New(t), netns.New(t)
	netns.Veth(t, ns, other, "eth1", "peer", 1500)
	ns.Run("ip", "link", "set", "lo", "up")
	netns.Veth(t, ns, other, "eth2", "peer2", 1500)
	ns.Run("ip", "link", "set", "eth2", "down")
	netns.Veth(t, ns, other, "narrow", "peer3", 80)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, "open"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"key.toml": "[log]\nleevl = \"info\"\n", "value.toml": "[node]\nnetid = 12000\n", "text.toml": "the interface is eth1\n",
		"short.key": "short\n", "other.key": "another-16-byte-salt\n", "cluster.key": "cluster-16-byte-salt\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mode.key"), []byte("cluster-16-byte-salt\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, ns, `msg=ready `, "daemon", "--socket", dir+"/utipc.sock", "--socket-mode", "0600", "--metrics", "127.0.0.1:9118", "--udp", "127.0.0.3,127.0.0.4")
	start(t, ns, "echo: node ", "echo", "--udp", "127.0.0.11,127.0.0.12", "--netid", "5", "18888:17")
	start(t, ns, "echo: node ", "echo", "--udp", "127.0.0.21,127.0.0.22,127.0.0.23", "--keyfile", dir+"/cluster.key", "18888:17")
	start(t, ns, "echo: node ", "echo", "--udp", "127.0.0.31,127.0.0.32", "--address", "1.1.1", "18888:17")
	start(t, ns, "echo: node ", "echo", "--udp", "127.0.0.41,127.0.0.42", "--network", "tipc", "18888:17")
	return ns
}

// start runs the program until the test ends, and returns when it has printed a line with
// ready in it.
func start(t *testing.T, ns *netns.NS, ready string, args ...string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := ns.Command(program(t), args...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { end(cmd); r.Close() })
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), ready) {
			go func() { // it must not wait for somebody to read its log
				for lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatalf("utipc %q has ended", args)
}

func end(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// checkMessagesPage compares the page with what the commands said, or writes it.
func checkMessagesPage(t *testing.T, got [][]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(messagesPage)
	readable := strings.NewReplacer("{dir}", "/tmp/x", "{program}", "/usr/bin/utipc", "{words}", "'medium ib device eth1'", "|", "\\|", "\n", "` <br> `")
	for g, group := range mistakes {
		fmt.Fprintf(&b, "\n### %s\n\n| mistake | command | message | status |\n|---|---|---|---|\n", group.title)
		for i, m := range group.all {
			by := ""
			if m.nobody {
				by = ", without rights"
			}
			fmt.Fprintf(&b, "| %s%s | `utipc %s` | `%s` | %d |\n", m.name, by, readable.Replace(m.args), readable.Replace(got[g][i]), m.status)
		}
	}
	const file = "../../docs/reference/messages.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Errorf("%s differs from what the commands say: go test ./cmd/utipc -run TestMessages -update writes it", file)
	}
}
