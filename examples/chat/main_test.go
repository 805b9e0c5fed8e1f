// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stacktest"
)

// Each member prints each line once, those of a speaker in order: one that joins late, one whose node was
// cut off, one that comes when the first speaker has left, and one while another speaks.
//
// Mutation it catches: a member sends its history to nobody; or only the lines it said itself; or what comes before a history is taken.
//
// Proves: stacktest.examples
func TestChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 4)
		var outs [4]bytes.Buffer
		ins := make([]*io.PipeWriter, 4)
		ended := make(chan error, 4)
		join := func(i int) {
			in, w := io.Pipe()
			ins[i] = w
			go func() { ended <- chat(t.Context(), c.Node(i), fmt.Sprint("member", i), in, &outs[i]) }()
			<-time.After(time.Minute) // of the bubble
		}
		say := func(i int, text string) {
			fmt.Fprintln(ins[i], text)
			<-time.After(time.Minute)
		}
		join(0)
		say(0, "nobody is here")
		join(1)
		say(0, "hello")
		say(1, "hello to you")
		ins[0].Close() // member 0 leaves; its last lines are with member 1
		<-time.After(time.Minute)
		join(2)
		say(2, "who was here?")
		c.Around(2).Cut()
		say(1, "member 2 is away")
		c.Around(2).Heal()
		c.Meet()
		c.All().Delay(time.Millisecond)
		var busy strings.Builder
		talked := make(chan bool)
		go func() { // while member 3 joins
			for i := range 150 {
				fmt.Fprintln(ins[1], i)
				<-time.After(100 * time.Microsecond)
			}
			close(talked)
		}()
		for i := range 150 {
			fmt.Fprintln(&busy, "member1:", i)
		}
		join(3)
		<-talked
		want := "member0: nobody is here\nmember0: hello\nmember1: hello to you\nmember2: who was here?\nmember1: member 2 is away\n" + busy.String()
		for _, in := range ins[1:] {
			in.Close()
		}
		for range 4 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for i := 1; i < 4; i++ {
			if got := outs[i].String(); got != want {
				t.Errorf("member %d has printed\n%s\nwant\n%s", i, got, want)
			}
		}
		if got := outs[0].String(); !strings.HasPrefix(want, got) || strings.Count(got, "\n") != 3 {
			t.Errorf("member 0 has printed\n%s", got)
		}
	})
}
