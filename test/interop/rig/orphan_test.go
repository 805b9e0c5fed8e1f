// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
)

// orphanEnv makes TestGuestDiesWithItsProcess the process that is killed.
const orphanEnv = "UTIPC_RIG_ORPHAN"

// TestGuestDiesWithItsProcess kills a process that has a guest, frozen even,
// and waits until nobody holds the guest's end of its cable any more.
func TestGuestDiesWithItsProcess(t *testing.T) {
	ctx := within(t, 10*time.Minute)
	if os.Getenv(orphanEnv) != "" {
		link := rig.Link{MAC: macA, File: os.NewFile(3, "cable")}
		g := start(t, ctx, rig.Options{Name: "orphan", Links: []rig.Link{link}})
		if err := g.Stop(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("\nfrozen\n")
		<-ctx.Done()
		return
	}
	link, wire, err := rig.NewLink(macA)
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, exe, "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), orphanEnv+"=1")
	c.ExtraFiles = []*os.File{link.File}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	link.Close()
	var said strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(out, &said)); lines.Scan() && lines.Text() != "frozen"; {
	}
	if !strings.Contains(said.String(), "frozen") {
		t.Errorf("the process said\n%s", said.String())
	}
	c.Process.Kill()
	c.Wait()
	wire.SetReadDeadline(time.Now().Add(2 * time.Minute))
	for b := make([]byte, rig.MaxFrame); err == nil; {
		_, err = wire.ReadFrame(b)
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("after the process's death: got %v, want %v", err, io.EOF)
	}
}
