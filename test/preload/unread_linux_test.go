// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/attach"
)

// A request that the daemon does not read is made again: the daemon gives up connections of a program
// that was stopped between connecting and asking. Here it closes every other connection unread. Mutation:
// ask tries once.
//
// Proves: plain.programs
func TestUnreadRequest(t *testing.T) {
	NeedCompiler(t)
	program := filepath.Join(t.TempDir(), "ask")
	if out, err := exec.Command("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/ask.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := newBed(t)
	b.Path = filepath.Join(t.TempDir(), "every other")
	l, err := attach.Listen(b.Path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for k := 0; ; k++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if k%2 == 0 {
				c.Close()
				continue
			}
			b.srv.ServeConn(c)
		}
	}()
	if out := b.Run(t, program); out != "2\n" {
		t.Error(out)
	}
	l.Close()
	<-ended
}
