// SPDX-License-Identifier: Apache-2.0

package preload

import (
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
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) { unreadRequest(t, m) })
	}
}

func unreadRequest(t *testing.T, m *Machine) {
	program := m.Compile(t, "ask.c")
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
	cmd, err := m.Command(within(t), b, program)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "2\n" {
		t.Errorf("%v\n%s", err, out)
	}
	l.Close()
	<-ended
}
