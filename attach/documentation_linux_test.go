// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Every number of the protocol stands in docs/reference/attach.md.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../docs/reference/attach.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	has := func(what string) {
		if !strings.Contains(text, what) {
			t.Errorf("docs/reference/attach.md does not have %q", what)
		}
	}
	for op, name := range opNames {
		has(fmt.Sprintf("\n| %d | `%s` |", op, name))
	}
	for flag, name := range map[Flags]string{
		FlagReply: "reply", FlagMore: "more", FlagAnswer: "answer", FlagPrivate: "private", FlagRanges: "ranges", FlagChanges: "changes", FlagComplete: "complete",
	} {
		has(fmt.Sprintf("\n| %d | %s |", flag, name))
	}
	for option := range optionNames {
		_, list, _ := strings.Cut(text, "| option | | value |")
		if !strings.Contains(list, fmt.Sprintf("| %d |", option)) && !strings.Contains(list, fmt.Sprintf("%d, ", option)) && !strings.Contains(list, fmt.Sprintf(", %d |", option)) {
			t.Errorf("docs/reference/attach.md does not have option %d, %v", option, option)
		}
	}
	has(fmt.Sprintf("%#x, `arg1` version (%d)", Magic, Version))
	has(fmt.Sprintf("`u32` %#x, `u32` version %d", ringMagic, ringVersion))
	for _, n := range []int{MaxData, ringOut, ringIn, ringPage, ringTail, ringConsumerWants, ringProducerWants, mostWakes} {
		has(fmt.Sprint(n))
	}
}

// The layout of a record does not change by accident; on a little-endian machine it is
// this.
func TestGoldenRecord(t *testing.T) {
	if bigEndian() {
		t.Skip("this machine is big-endian")
	}
	h := Header{
		Op: OpMessage, Flags: FlagPrivate, Errno: 5, ID: 7,
		Addr:  SocketSockaddr(frame.SocketAddr{Port: 0x11223344, Node: 0x1001002}),
		Addr2: RangeSockaddr(frame.Range{Type: 18888, Lower: 1, Upper: 99}, frame.NodeScope),
		Arg0:  1, Arg1: 2, Wide: 0x0102030405060708,
	}
	b, err := h.Append(nil, []byte("data"))
	want := "41000800" + "05000000" + "07000000" + "04000000" +
		"1e000300" + "44332211" + "02100001" + "00000000" +
		"1e000103" + "c8490000" + "01000000" + "63000000" +
		"01000000" + "02000000" + "0807060504030201" + hex.EncodeToString([]byte("data"))
	if got := hex.EncodeToString(b); got != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func bigEndian() bool {
	b, _ := (&Header{Op: 1}).Append(nil, nil)
	return b[0] == 0
}
