// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/tipctool"
	"github.com/utipc/utipc/stack"
)

// The programs of a daemon, as lines and as JSON; a node of one's own has none.
func TestClients(t *testing.T) {
	near := liveBed(t, 1)[0]
	n := attached(t, near)
	c, err := n.ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out bytes.Buffer
	if err := showClients(t.Context(), n, &out, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], fmt.Sprintf("%d ", os.Getpid())) || len(strings.Fields(lines[1])) < 10 {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	tool := tipctool.Tool{Node: func(context.Context) (*stack.Node, error) { return n, nil }, Out: &out, Err: &out, Verbose: true}
	if tool.Run(t.Context(), []string{"socket", "list"}); strings.Count(out.String(), fmt.Sprintf("  of process %d: ", os.Getpid())) != 1 {
		t.Errorf("got %s, want one socket of this process", out.String())
	}
	out.Reset()
	if err := showClients(t.Context(), n, &out, true); err != nil {
		t.Fatal(err)
	}
	var told struct {
		Clients []daemon.Client
		Daemon  daemon.Counters
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil || len(told.Clients) != 1 || told.Clients[0].Names != 1 || told.Daemon.Names != 1 {
		t.Errorf("got %s, %v", out.String(), err)
	}
	if err := showClients(t.Context(), near, &out, false); err == nil {
		t.Error("a node of one's own has clients")
	}
}
