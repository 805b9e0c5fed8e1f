// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
	short "github.com/utipc/utipc/test/shortage"
)

// bearer is the attributes of one answer about a bearer.
func bearer(name string) []byte {
	return netlink.AppendAttribute(nil, nlaBearer|1<<15, netlink.AppendAttribute(nil, nlaBearerName, append([]byte(name), 0)))
}

func TestBearerName(t *testing.T) {
	good := bearer("eth:eth0")
	for _, c := range []struct {
		what  string
		attrs []byte
		want  string
	}{
		{"a bearer", good, "eth:eth0"},
		{"behind another attribute", append(netlink.AppendAttribute(nil, 7, []byte("x")), good...), "eth:eth0"},
		{"no attribute", nil, ""},
		{"an empty one", netlink.AppendAttribute(nil, nlaBearer, nil), ""},
		{"no name in it", netlink.AppendAttribute(nil, nlaBearer, netlink.AppendAttribute(nil, 5, []byte("abcd"))), ""},
		{"a length of 0", []byte{0, 0, 1, 0}, ""},
		{"a length beyond the end", []byte{200, 0, 1, 0, 1, 2, 3, 4}, ""},
	} {
		if got := bearerName(c.attrs); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
	for i := range good {
		bearerName(good[:i]) // cut anywhere: no panic
	}
}

func TestAnswers(t *testing.T) {
	message := func(typ uint16, attrs []byte) []byte {
		m := binary.NativeEndian.AppendUint32(nil, uint32(20+len(attrs)))
		m = binary.NativeEndian.AppendUint16(m, typ)
		return append(append(m, make([]byte, 14)...), attrs...)
	}
	two := append(message(30, bearer("eth:eth0")), message(30, bearer("eth:eth1"))...)
	var names []string
	note := func(a []byte) { names = append(names, bearerName(a)) }
	if more, err := answers(two, note); !more || err != nil || len(names) != 2 || names[1] != "eth:eth1" {
		t.Errorf("two answers: got %q", names)
	}
	if more, err := answers(append(two, message(3, nil)...), note); more || err != nil {
		t.Error("more is expected behind the last message")
	}
	for i := range two {
		answers(two[:i], note)
	}
}

// An interface is not taken for free of the kernel's TIPC because there were no means to ask.
//
// Mutations: checkKernel returns nil for an error; request returns nil where it cannot send, or
// cannot receive; moduleLoaded takes a shortage for no.
func TestKernelIsNotAsked(t *testing.T) {
	signs, family := moduleSigns, tipcFamily
	t.Cleanup(func() { moduleSigns, tipcFamily = signs, family })
	moduleSigns, tipcFamily = []string{t.TempDir()}, "none" // as if it were loaded; no module has that name
	thread := short.Start(t)
	for _, errno := range []unix.Errno{unix.EMFILE, unix.ENOMEM} {
		failed := map[string]bool{}
		for n := 1; ; n++ {
			var err error
			thread.Do(func() {
				thread.Fail(n, 1, errno)
				err = Link{Name: "lo"}.checkKernel("lo")
				thread.Relent()
			})
			call, count := thread.Failed()
			if count == 0 {
				if err != nil {
					t.Errorf("with all that is needed: %v", err)
				}
				break
			}
			failed[call] = true
			if !errors.Is(err, errno) {
				t.Errorf("%s fails with %v: got %v", call, errno, err)
			}
		}
		t.Log(errno, failed)
	}
}
