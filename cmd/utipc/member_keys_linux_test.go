// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/test/netns"
)

// Nodes with one key reach each other, and nobody else; what they say is sealed, and read
// by who has the key.
//
// Proves: keys.tools
func TestSealedEchoAndPing(t *testing.T) {
	netns.Require(t)
	t.Parallel()
	bin := program(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	keys := file("keys", "master "+key20+"\n", 0o600)
	open := file("open", "master "+key20+"\n", 0o644)
	other := file("other", "master "+key28+"\n", 0o600)

	echo := a.Command(bin, "echo", "--if", "left", "--address", "1.1.1", "--tolerance", "30s", "--keyfile", keys, "18888:0-99")
	var logged bytes.Buffer
	echo.Stderr = &logged
	pipe, err := echo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := echo.Start(); err != nil {
		t.Fatal(err)
	}
	defer echo.Process.Kill()
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); !strings.HasPrefix(line, "echo: node 1001001 on left answers") {
		t.Fatalf("got %q, %v: %s", line, err, &logged)
	}
	tapFile := filepath.Join(dir, "tap.pcapng")
	ping := func(args ...string) []string {
		return append([]string{"ping", "--if", "right", "--address", "1.1.2", "--tolerance", "30s", "--timeout", "1m", "--count", "3", "--interval", "1ms"}, args...)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
		not  string
		code int
	}{
		{"the key", ping("--keyfile", keys, "--tap", tapFile, "18888:17"), `3 sent, 3 answered, 0 lost`, `WARN`, 0},
		{"as an argument", ping("--master-key", key20, "18888:17"), `(?s)visible to everybody.*3 sent, 3 answered, 0 lost`, "", 0},
		{"readable by others", ping("--keyfile", open, "18888:17"), `(?s)open holds keys and is readable by others.*3 sent, 3 answered`, "", 0},
		{"fragments", ping("--keyfile", keys, "--size", "20000", "18888:17"), `3 sent, 3 answered, 0 lost`, "", 0},
		{"another key", ping("--keyfile", other, "--timeout", "500ms", "18888:17"), `nobody has bound 18888:17 within 500ms`, "answered", 1},
		{"no key", ping("--timeout", "500ms", "18888:17"), `nobody has bound 18888:17 within 500ms`, "answered", 1},
		{"an audit", []string{"audit", "--if", "right", "--address", "1.1.3", "--tolerance", "30s", "--wait", "1m", "--timeout", "1m", "--keyfile", keys}, `(?m)^1001001 .* 0 differences\ndifferences: 0\n$`, "", 0},
	} {
		got, code := runIn(b, bin, c.args)
		if code != c.code || !regexp.MustCompile(c.want).MatchString(got) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: exit %d, output %q; want %d, %q", c.name, code, got, c.code, c.want)
		}
		if strings.Contains(got, key20[2:]) || strings.Contains(got, key28) {
			t.Errorf("%s: the key is in the output %q", c.name, got)
		}
	}
	for _, c := range []struct {
		args []string
		data bool
	}{
		{[]string{"decode", tapFile}, false},
		{[]string{"decode", "--keyfile", keys, tapFile}, true},
	} {
		var decoded bytes.Buffer
		if code := run(t.Context(), c.args, nil, &decoded, io.Discard); code != 0 || strings.Contains(decoded.String(), "data-low/named") != c.data {
			t.Errorf("%q: exit %d, %.2000s; want data: %v", c.args, code, &decoded, c.data)
		}
	}
	echo.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(out)
	if err := echo.Wait(); err != nil || !strings.Contains(string(rest), " 12 messages answered, ") {
		t.Errorf("echo ended with %v, %q, %s", err, rest, &logged)
	}
}
