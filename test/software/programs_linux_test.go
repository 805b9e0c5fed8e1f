// SPDX-License-Identifier: Apache-2.0

package software

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/test/tier"
)

// A program plays a part that its last argument says: one, or serve and use.
type program struct {
	name    string
	path    func(t *testing.T) string
	script  string                                   // of this folder, or none
	needs   func(t *testing.T, path string) []string // what a guest must have
	hows    []string                                 // the ways of utipc run
	serves  string                                   // what it prints as serve
	uses    string                                   // and as use; as one it prints both
	through map[uint32]least                         // by type, at the node where both parts are
}

// least is what a node must have counted for a service type.
type least struct{ connections, messages uint64 }

// zeromqPath and the others are of Debian's own: a Python of another's has no python3-zmq.
const (
	pythonPath = "/usr/bin/python3"
	perlPath   = "/usr/bin/perl"
	socatPath  = "/usr/bin/socat"
)

var programs = []program{
	{
		name:   "zeromq",
		path:   installed(pythonPath, "python3"),
		script: "testdata/zeromq.py",
		needs: func(t *testing.T, path string) []string {
			return pythonFiles(t, "python3-zmq", path, "import threading, zmq")
		},
		hows: []string{"preload", "seccomp"},
		uses: `REQ/REP: 200 of 200
sizes: [0, 1, 63, 64, 1000, 65999, 66001, 300000]
ROUTER/DEALER: 10000 of 10000
PUB/SUB: 500 of 500
wildcard: True
bye
`,
		through: map[uint32]least{18888: {connections: 2}, 18889: {connections: 2}, 18890: {connections: 2}},
	},
	{
		name:   "perl",
		path:   installed(perlPath, "perl"),
		script: "testdata/sockets.pl",
		hows:   []string{"preload", "seccomp"},
		needs:  perlFiles,
		uses: `CONN_TIMEOUT 5000
peer: family 30, type 3
stream: 100000 bytes, as sent
seqpacket: 1 bytes, as sent
seqpacket: 1000 bytes, as sent
seqpacket: 66000 bytes, as sent
rdm: 1 bytes, as sent, from type 3
rdm: 1000 bytes, as sent, from type 3
rdm: 66000 bytes, as sent, from type 3
to nobody: No route to host
connect to nobody: No route to host
`,
		through: map[uint32]least{18900: {connections: 4, messages: 3}},
	},
	{
		name:   "socat",
		path:   installed("/bin/sh", "dash"),
		script: "testdata/socat.sh",
		needs: func(t *testing.T, _ string) []string {
			path := installed(socatPath, "socat")(t)
			return append(linked(t, path), path)
		},
		hows: []string{"preload", "seccomp"},
		uses: `stream: HELLO
rdm: HELLO
No route to host
No route to host
`,
		serves: `recv: to be kept
recv: and this
bytes: 200000
bytes: 200000
bytes: 200000
`,
		through: map[uint32]least{18920: {connections: 8, messages: 3}},
	},
	{
		name:    "Go",
		path:    func(t *testing.T) string { return goProgram(t, "0") },
		needs:   func(_ *testing.T, path string) []string { return []string{path} },
		hows:    []string{"auto"},
		uses:    goUses,
		through: map[uint32]least{18940: {connections: 4, messages: 3}},
	},
	{
		name:    "Go with cgo",
		path:    func(t *testing.T) string { return goProgram(t, "1") },
		needs:   func(t *testing.T, path string) []string { return append(linked(t, path), path) },
		hows:    []string{"auto"},
		uses:    goUses,
		through: map[uint32]least{18940: {connections: 4, messages: 3}},
	},
}

const goUses = `importance 2
stream: 400000 bytes, as sent: true
*unix.TIPCSocketAddr *unix.TIPCSocketAddr
seqpacket: 1 bytes, as sent: true
rdm: 1 bytes, as sent: true, from *unix.TIPCSocketAddr
seqpacket: 1000 bytes, as sent: true
rdm: 1000 bytes, as sent: true, from *unix.TIPCSocketAddr
seqpacket: 66000 bytes, as sent: true
rdm: 66000 bytes, as sent: true, from *unix.TIPCSocketAddr
after shutdown: transport endpoint is not connected
to nobody: no route to host
connect to nobody: no route to host
nothing there: resource temporarily unavailable
pair: to the other
protocol 1: protocol not supported
`

// goProgram builds the program in Go, with cgo or without.
func goProgram(t *testing.T, cgo string) string {
	t.Helper()
	path := filepath.Join(preload.Folder(), "gosockets"+cgo)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/gosockets")
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// command is the program with its arguments, as a part.
func (p *program) command(t *testing.T, part string) []string {
	t.Helper()
	words := []string{p.path(t)}
	if p.script != "" {
		words = append(words, p.script)
	}
	return append(words, part)
}

// lines are the lines of a text that are not empty.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if s := strings.TrimRight(line, "\r\n"); s != "" {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

func (p *program) check(t *testing.T, where, part, got string) {
	t.Helper()
	want := map[string]string{"one": p.uses + p.serves, "use": p.uses, "serve": p.serves}[part]
	if got = lines(got); got != want {
		t.Errorf("%s %s, %s:\n%swant\n%s", p.name, part, where, got, want)
	}
}

// installed returns a program of a Debian package.
func installed(path, pkg string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		if _, err := exec.LookPath(path); err != nil {
			tier.Missing(t, "there is no "+path+": install "+pkg)
		}
		return path
	}
}

// linked are the libraries that programs and libraries need, the dynamic loader among them.
func linked(t *testing.T, files ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ldd", files...).CombinedOutput()
	if err != nil {
		t.Fatalf("ldd: %v\n%s", err, out)
	}
	var found []string
	for _, word := range strings.Fields(string(out)) {
		if strings.HasPrefix(word, "/") && !strings.HasSuffix(word, ":") {
			found = append(found, word)
		}
	}
	return found
}

// pythonFiles are a Python, and what it has loaded after some statements.
func pythonFiles(t *testing.T, pkg, python, statements string) []string {
	t.Helper()
	const show = `
import os, sys
print(sys.executable)
for m in list(sys.modules.values()):
    if getattr(m, "__file__", None):
        print(m.__file__)
for name in os.listdir(os.path.dirname(os.__file__)):
    if name.startswith("_sysconfigdata"):
        print(os.path.join(os.path.dirname(os.__file__), name))`
	return interpreted(t, pkg, python, "-c", statements+"\n"+show)
}

func perlFiles(t *testing.T, path string) []string {
	t.Helper()
	const show = `print join("\n", $^X, values %INC, @DynaLoader::dl_shared_objects), "\n"`
	return interpreted(t, "perl", path, "-Mconstant", "-MSocket", "-MIO::Handle", "-MIO::Select", "-e", show)
}

// interpreted are files that a program lists, itself among them, and the libraries that these need.
func interpreted(t *testing.T, pkg, name string, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		tier.Missing(t, pkg+" is missing: install it:", err, string(out))
	}
	var files, binaries []string
	for _, file := range strings.Fields(string(out)) {
		if !filepath.IsAbs(file) {
			continue
		}
		files = append(files, file)
		if filepath.Ext(file) == ".so" || file == name {
			binaries = append(binaries, file)
		}
	}
	return append(files, linked(t, binaries...)...)
}
