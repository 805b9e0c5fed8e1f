// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// defaultSocket is where the daemon of a host listens.
const defaultSocket = "/run/utipc/utipc.sock"

// A nodeFlags is the flags of a command that works on a node. With --if or --udp it is one of
// its own (member), else the daemon's, which it attaches to.
//
//	var h host
//	h.flags(f)              // f is parsed by parse
//	n, finish, err := h.open(ctx, std)
//	…
//	err = errors.Join(err, closeNode(n, finish))
type nodeFlags struct {
	member
	socket string
	serves bool // it is a server, which outlives a restart of the daemon; others end with it
	set    *cmdline.Flags
}

// flags declares the flags of every command that works on a node: the daemon's of this
// host, or one of its own.
func (h *nodeFlags) flags(f *cmdline.Flags) {
	h.set = f
	f.Section("NODE FLAGS")
	f.Text("\n")
	f.StringVar(&h.socket, "socket PATH", "", "attach to the daemon there (default: $UTIPC_SOCKET, else "+defaultSocket+")")
	f.Text("\nWith --if or --udp the command needs no daemon: it is a node of its own while it runs.\n\n")
	h.member.flags(f)
}

// embedded reports whether the command is a node of its own.
func (h *nodeFlags) embedded() bool { return h.iface != "" || h.udp.ends != "" }

// open finds the node: it attaches, or opens one. closeNode is to be called at the end.
func (h *nodeFlags) open(ctx context.Context, std cmdline.Stdio) (n *stack.Node, finish func() error, err error) {
	if err := h.check(); err != nil {
		return nil, nil, err
	}
	if h.embedded() {
		return h.member.open(ctx, std)
	}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	switch n, err = attachNode(ctx, h.path(), stack.AttachConfig{NoReattach: !h.serves}); {
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, fmt.Errorf("attach to %s: permission denied: the socket is for its owner and group: become a member of the group (ls -l %[1]s), or use sudo", h.path())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, nil, fmt.Errorf("attach to %s: no daemon is there: start one (systemctl start utipc), name the socket of another one (--socket PATH), or be a node of its own (--if IFACE, --udp IP)", h.path())
	case err != nil:
		return nil, nil, fmt.Errorf("attach to %s: %w", h.path(), err)
	}
	return n, func() error { return nil }, nil
}

// attachTimeout is how long a daemon may take to answer.
const attachTimeout = 10 * time.Second

// attachNode finds the daemon's node. Tests put a node of their own in its place.
var attachNode = func(ctx context.Context, path string, cfg stack.AttachConfig) (*stack.Node, error) {
	return cfg.Attach(ctx, path)
}

// check reports flags that do not go together, as a cmdline.UsageError.
func (h *nodeFlags) check() error {
	own := cmdline.NewFlags("")
	new(member).flags(own)
	var given []string // flags of a node of its own
	h.set.Visit(func(f *flag.Flag) {
		if own.Lookup(f.Name) != nil {
			given = append(given, "--"+f.Name)
		}
	})
	switch {
	case h.embedded() && h.socket != "":
		return cmdline.UsageError("--socket does not go with --if and --udp: with these the command is a node of its own")
	case !h.embedded() && len(given) > 0:
		return cmdline.UsageError(strings.Join(given, ", ") + ": only with --if or --udp; the daemon has its own settings")
	}
	return nil
}

// path is where the daemon's socket is.
func (h *nodeFlags) path() string {
	if h.socket != "" {
		return h.socket
	}
	if p := os.Getenv("UTIPC_SOCKET"); p != "" {
		return p
	}
	return defaultSocket
}

// place says in a few words which node the command works on.
func (h *nodeFlags) place() string {
	if h.embedded() {
		return h.iface // which member.open has set, with --udp too
	}
	return "the daemon at " + h.path()
}

// closeNode ends what open began: an attached node is left, one of its own is closed.
func closeNode(n *stack.Node, finish func() error) error { return closeMember(n, finish) }
