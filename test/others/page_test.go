// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// page compares docs/reference/software.md with what was run: its figures are those of some run, the rest is
// as the table above says.
func page(t *testing.T, took map[string][]time.Duration) {
	const file = "../../docs/reference/software.md"
	if os.Getenv("UTIPC_UPDATE_DOCS") != "" && !t.Failed() {
		must(t, os.WriteFile(file, []byte(text(t, took)), 0o644))
	}
	b, err := os.ReadFile(file)
	must(t, err)
	for _, s := range all {
		if !strings.Contains(string(b), row(t, s)) {
			t.Errorf("docs/reference/software.md has no row %q; UTIPC_UPDATE_DOCS=1 writes it", row(t, s))
		}
	}
}

// row is a row without its figures.
func row(t *testing.T, s software) string {
	version := "Go's own"
	if s.module != "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", s.module).Output()
		must(t, err)
		version = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", s.name, version, s.what, s.by)
}

func text(t *testing.T, took map[string][]time.Duration) string {
	var b strings.Builder
	b.WriteString(head)
	for _, s := range all {
		b.WriteString(row(t, s))
		for i := range 3 {
			fmt.Fprintf(&b, " %.2f |", float64(took[s.name][i+1])/float64(took[s.name][0]))
		}
		b.WriteString("\n")
	}
	b.WriteString(tail)
	return b.String()
}

const head = `# Software that runs over it

Programs and libraries that others wrote, unchanged, on sockets of package ` + "`stack`" + `. Each is run in the
tests over a network in memory, over UDP on the loopback interface, and attached to daemons.

The ratios are the time that the work took divided by the time of the same work over the loopback
interface, by TCP (QUIC: by UDP), in the same run: below 1 is faster than that. They are from one run, on
a machine that had other work, and are there for their order of magnitude. Client and server are
in one process.

| software | version | what is run | connected by | memory | UDP | attached |
|---|---|---|---|---:|---:|---:|
`

const tail = `
This table is written by ` + "`UTIPC_UPDATE_DOCS=1 go test .`" + ` in test/others.

## With an adapter

Adapters are modules of their own under ` + "`adapters/`" + `, so that a program that links ` + "`stack`" + ` gets no
module that it does not use.

| software | module | what it does | test |
|---|---|---|---|
| gRPC | ` + "`adapters/grpc`" + ` | targets ` + "`tipc:///18888:17`" + `: every bound socket an address, calls in turn, changes from the name table | servers come and go, no call fails |
| hashicorp/raft | ` + "`adapters/raft`" + ` | a StreamLayer: server addresses are names | elects, applies 10,000 entries, loses the leader's node, goes on; prints the ratio to raft over TCP |
| hashicorp/memberlist | ` + "`adapters/memberlist`" + ` | a Transport: packets by tipcrdm, streams by tipc | joins, both kinds of messages, notices a node's end |
| NATS | ` + "`adapters/nats`" + ` | a dialer for clients; Serve, for a server of the same process | clients on two nodes, a nats-server on a third |
| Prometheus | ` + "`adapters/prometheus`" + ` | a Collector of a node within the program, with the daemon's names | the page of client_golang, compared with docs/reference/daemon.md |
| OpenTelemetry | ` + "`adapters/otel`" + ` | the same, for a Meter | what its SDK collects, compared with docs/reference/daemon.md |

An ` + "`http.RoundTripper`" + ` needs no adapter: ` + "`&http.Transport{DialContext: node.DialContext}`" + ` is one, with
URLs as ` + "`http://18888:80/`" + `.

## What does not work, and why

| what | why | instead |
|---|---|---|
| the forwarding of half-closed connections (` + "`CloseWrite`" + `) to a node of a kernel, as some ssh and proxy programs do | a kernel has no half-close; between nodes of utipc it works | the protocol's own end of a request, as HTTP and gRPC have |
| programs that want a ` + "`*net.TCPConn`" + ` or a file descriptor | a socket of an embedded node has none | ` + "`net.Conn`" + `; or [preload](how-to/unmodified.md), where sockets are the daemon's |
| quic-go's offloads and ECN | these need a ` + "`*net.UDPConn`" + ` | quic-go goes without |
`
