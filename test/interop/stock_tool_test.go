// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// serveNode makes a daemon of our node, and returns the path of its socket.
func (b *bed) serveNode() string {
	b.t.Helper()
	srv, err := daemon.New(b.node, daemon.Config{})
	must(b.t, err)
	path := filepath.Join(b.t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	must(b.t, err)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := srv.Shutdown(ctx, "the test is over"); err != nil {
			b.t.Error(err)
		}
		<-served
		if c := srv.Counters(); c.Connections != 0 || c.Clients != 0 {
			b.t.Errorf("left behind: %+v", c)
		}
	})
	return path
}

// stockParty is tipc(8) of this machine with the preload library, on a daemon of our node.
func (b *bed) stockParty() *party {
	b.t.Helper()
	tool := need(b.t, "tipc")
	need(b.t, "cc")
	library := filepath.Join(b.t.TempDir(), "libutipc-preload.so")
	if out, err := exec.CommandContext(b.ctx, "../../preload/build", library).CombinedOutput(); err != nil {
		b.t.Fatalf("preload/build: %v\n%s", err, out)
	}
	socket := b.serveNode()
	return &party{ourAddr, kernelAddr, func(t *testing.T, commands []string) (all []answer) {
		t.Helper()
		for _, c := range commands {
			var out bytes.Buffer
			cmd := exec.CommandContext(b.ctx, tool, strings.Fields(c)...)
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+library, "UTIPC_SOCKET="+socket)
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Fatalf("%s: %v", c, err)
			}
			all = append(all, answer{out.String(), cmd.ProcessState.ExitCode()})
		}
		return all
	}}
}

// stockDiffers are the commands that the tool prints something else for, and why.
var stockDiffers = map[string]string{
	"bearer enable media udp name U1 localip xx": "the guest has no resolver of names",
	"link monitor set threshold 0":               besideDiffers["link monitor set threshold 0"],
	"link monitor get thresh":                    besideDiffers["link monitor get thresh"],
	"link get prio link $link":                   besideDiffers["link get prio link $link"],
	"link stat show link $id":                    besideDiffers["link stat show link $id"],
}

// What iproute2's own tipc(8) prints on a kernel and, with the preload library, on our daemon, in
// the same situations: all commands of TestToolsBesideKernel, line for line, as text and as JSON.
//
// Mutations it catches: a link that is down has linkUp; identity knows nodes with contact only; an error
// without the reason behind it.
//
// Proves: plain.netlink
func TestStockToolBesideKernel(t *testing.T) {
	b := besideBed(t)
	kernel, ours := b.kernelParty(), b.stockParty()
	met := map[string]bool{}
	note := func(_ string, r besideRow) {
		d, why := alike(kernel, ours, r), stockDiffers[r.words]
		switch {
		case d != "" && why == "":
			t.Errorf("%s: %s", r.words, d)
		case d != "":
			met[r.words] = true
		}
	}
	for _, words := range besideShown {
		if !strings.Contains(words, "-j") {
			note("", ask(t, kernel, ours, []string{"-j " + words})[0])
		}
	}
	b.askAll(kernel, ours, note)
	for words, why := range stockDiffers {
		if !met[words] {
			t.Errorf("%s: answered alike, but is said to differ: %s", words, why)
		}
	}
}
