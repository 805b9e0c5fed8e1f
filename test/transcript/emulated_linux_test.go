// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/preload"
)

// emulatedSections are those that are compared. Of the others connect asks for data before the daemon has surely
// passed it on, shutdown waits for what does not come under the emulator, and process executes itself, which the
// emulator leaves to this machine's kernel.
const emulatedSections = "socket descriptor name bind option socket-option ioctl datagram receive nonblocking refuse " +
	"stream seqpacket pair reject poll flow multicast group topology pointer"

// The program and the library for arm64 print under qemu-user what those of this machine print, but for what the
// emulator does not pass on. Of these kinds there are no more than were found.
//
// Mutations it catches, each of arm64 alone: the library calls recvmsg by its number on amd64; as_ended changes nothing.
//
// Proves: plain.machines
func TestEmulated(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Log("TestLibrary is of this machine")
		return
	}
	preload.Emulated.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	run := func(m *preload.Machine) string {
		t.Helper()
		b := preload.NewBed(t, hub.New(hub.Config{}), 1)
		cmd, err := m.Command(ctx, b, buildFor(t, m.Compiler, false), strings.Fields(emulatedSections)...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		keep(t, m.Name+".txt", string(out))
		return string(out)
	}
	r := checkBeside(t, "under the emulator", "of this machine", run(preload.Here), run(preload.Emulated), EmulatorKinds)
	for kind, n := range r.Kinds() {
		if most, limited := mostEmulated[kind]; limited && n > most {
			t.Errorf("%d differences of kind %q, want at most %d", n, kind, most)
		}
	}
}
