// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// A stream takes as much as there is room for, and says how much that was.
//
// Mutation it catches: tryWrite says that all was written.
func TestTryWriteOfAPart(t *testing.T) {
	d, p, err := newPair(attach.KindStream)
	if err != nil {
		t.Fatal(err)
	}
	defer d.s.Close()
	program := os.NewFile(uintptr(p), "program")
	defer program.Close()
	if err := d.control(func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4096) }); err != nil {
		t.Fatal(err)
	}
	message := bytes.Repeat([]byte("0123456789abcdef"), attach.MaxData/16)
	n, err := d.tryWrite(message)
	if err != nil || n <= 0 || n >= len(message) {
		t.Fatalf("%d bytes of %d, %v", n, len(message), err)
	}
	if k, err := d.tryWrite(message[n:]); err != syscall.EAGAIN || k != 0 {
		t.Errorf("without room: %d bytes, %v", k, err)
	}
	got := make([]byte, n)
	if _, err := io.ReadFull(program, got); err != nil || !bytes.Equal(got, message[:n]) {
		t.Errorf("%d bytes of what was written, %v", n, err)
	}
}
