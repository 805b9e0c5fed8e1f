// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
)

// supervisedSections are those that are compared over the supervisor. Of the others shutdown and pair wait for what
// does not come: the end that a shutdown without a connection reports, and a message of write(2). In the rest it is a
// matter of time what is there at a call: a connection ends in steps, the daemon finds a close(2), a message comes by way of it.
// UTIPC_TRANSCRIPT_SECTIONS names others.
const supervisedSections = "socket descriptor name option socket-option ioctl datagram receive multicast pointer"

// Over the supervisor the program, which is static, prints what it prints on a kernel, but for kinds that are listed.
// Mutations it catches: setOption does not read importances as a kernel; keepPart keeps none.
//
// Proves: plain.supervised
func TestSupervisor(t *testing.T) {
	program := build(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	b := preload.NewBed(t, hub.New(hub.Config{}), 1)
	names := cmp.Or(os.Getenv("UTIPC_TRANSCRIPT_SECTIONS"), supervisedSections)
	text, err := b.UtipcRun(ctx, "seccomp", append([]string{program}, strings.Fields(names)...)...)
	if err != nil {
		t.Error(err)
	}
	keep(t, "node.txt", text)
	checkBeside(t, "the supervisor", "node.txt", only(recorded(t, "node.txt"), names), text, SupervisorKinds)
}
