// SPDX-License-Identifier: Apache-2.0

package shortage_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/shortage"
)

// The calls that are to fail do, and no others, on the thread and nowhere else.
// Mutations: answerOne counts no calls; filter lets calls of the list pass.
func TestCallsFail(t *testing.T) {
	thread := shortage.Start(t)
	open := func() error {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	for _, c := range []struct {
		first, count int
		want         [4]bool
	}{
		{1, 1, [4]bool{true}},
		{3, 1, [4]bool{2: true}},
		{2, 2, [4]bool{1: true, 2: true}},
		{2, 0, [4]bool{1: true, 2: true, 3: true}},
		{5, 1, [4]bool{}},
	} {
		thread.Fail(c.first, c.count, unix.EMFILE)
		var got [4]bool
		want := 0
		for i := range got {
			thread.Do(func() { got[i] = errors.Is(open(), unix.EMFILE) })
			if err := open(); err != nil {
				t.Errorf("another thread: %v", err)
			}
			if c.want[i] {
				want++
			}
		}
		name, n := thread.Failed()
		if got != c.want || n != want || n > 0 && name != "eventfd2" {
			t.Errorf("%d calls from %d: got %v, %d of %q; want %v", c.count, c.first, got, n, name, c.want)
		}
	}
	thread.Relent()
	thread.Do(func() {
		if err := open(); err != nil {
			t.Error(err)
		}
	})
}
