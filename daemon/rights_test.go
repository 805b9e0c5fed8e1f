// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/test/tier"
)

// nobody is a user who is neither root nor the daemon's.
const nobody = 65534

func init() {
	// A program of another user, which asks for what it may and may not.
	children["stranger"] = func() int {
		c, err := attach.Dial(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		ask := func(h attach.Header, data []byte) {
			h.ID = 1
			buf := make([]byte, attach.MaxData)
			if err := c.Write(&h, data); err != nil {
				fmt.Println(err)
				return
			}
			for {
				if _, err := c.Read(&h, buf); err != nil {
					fmt.Println(err)
					return
				}
				if h.IsReply() && h.Flags&attach.FlagMore == 0 {
					fmt.Println(h.Op, int(h.Errno))
					return
				}
			}
		}
		fmt.Println("ready")
		ask(attach.HelloRequest(1, 0, "stranger"))
		for _, verb := range []string{"addr", "reset-statistics", "flush-keys"} {
			ask(attach.Header{Op: attach.OpCall}, attach.AppendCall(nil, verb, nil))
		}
		ask(attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, "capture", nil))
		ask(attach.Header{Op: attach.OpSocket, Arg0: uint32(attach.KindRDM)}, nil)
		return 0
	}
}

// Another user may use sockets and look, and nothing else; what he was refused is counted.
//
// Proves: daemon.limits
func TestRefusedVerbs(t *testing.T) {
	if os.Geteuid() != 0 {
		tier.Missing(t, "it takes root to be somebody else")
	}
	for name, c := range map[string]struct {
		policy daemon.Policy
		want   []string
	}{
		"default":  {daemon.DefaultPolicy(), []string{"hello 0", "call 0", "call 1", "call 1", "stream 1", "socket 0"}},
		"sockets":  {daemon.Policy{Use: daemon.Rule{Everyone: true}}, []string{"hello 0", "call 1", "call 1", "call 1", "stream 1", "socket 0"}},
		"his keys": {daemon.Policy{Show: daemon.Rule{Groups: []uint32{nobody}}, Keys: daemon.Rule{Users: []uint32{nobody}}}, []string{"hello 0", "call 0", "call 1", "call 0", "stream 1", "socket 1"}},
		"nothing":  {daemon.Policy{}, []string{"hello 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, daemon.Config{Policy: &c.policy})
			l, err := abstract(b)
			if err != nil {
				t.Fatal(err)
			}
			x := startChildAs(t, "stranger", nobody, "SOCKET="+l)
			refused := uint64(0)
			for _, want := range c.want {
				if got := x.line(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				if want[len(want)-2:] == " 1" {
					refused++
				}
			}
			if n := b.srv.Counters().Refused; n != refused {
				t.Errorf("refused %d, want %d", n, refused)
			}
		})
	}
}

// abstract makes the daemon listen at a name that needs no rights in the file system.
func abstract(b *bed) (path string, err error) {
	path = fmt.Sprintf("@utipc-test-%d-%d", os.Getpid(), len(b.path))
	l, err := attach.Listen(path, 0, -1)
	if err != nil {
		return "", err
	}
	go b.srv.Serve(l)
	return path, nil
}

// startChildAs is startChild by another user.
func startChildAs(t *testing.T, part string, uid uint32, words ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := startWith(t, part, func(cmd *exec.Cmd) {
		// The binary may lie where only root may look: it is opened before.
		f, err := os.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		cmd.ExtraFiles = []*os.File{f}
		cmd.Path = "/proc/self/fd/3"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}, words...)
	return c
}

// Accounts of a process, a user and all add up, and are gone with who had them.
//
// Proves: daemon.limits
func TestAccounts(t *testing.T) {
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Names: -1}, User: daemon.Limits{Names: 3}}})
	p, q := b.program(t), b.program(t)
	p.socket(attach.KindRDM)
	q.socket(attach.KindRDM)
	p.bind(18888, 1)
	p.bind(18888, 2)
	q.bind(18888, 3)
	q.fails(syscall.EUSERS, attach.Header{Op: attach.OpBind, Addr: service(18888, 4)}, nil)
	if c := b.srv.Counters(); c.Names != 3 || c.Clients != 1 || c.Users != 1 || c.OverLimit != 1 {
		t.Errorf("%+v", c)
	}
	p.c.Close()
	waitFor(t, func() bool { return b.srv.Counters().Names == 1 })
	q.bind(18888, 4)
	var e error = &daemon.LimitError{What: "names", Of: "user", Limit: 3, Errno: syscall.EUSERS}
	if !errors.Is(e, syscall.EUSERS) {
		t.Error(e)
	}
}
