// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/test/sim"
)

// A spoken frame is one of a recorded conversation.
type spoken struct {
	number   int // in the file, from 1
	at       time.Duration
	src, dst frame.MAC
	msg      []byte
}

// recorded reads a capture's frames that are TIPC.
func recorded(t testing.TB, file string) (all []spoken) {
	t.Helper()
	frames, err := layers.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		w, b, err := layers.Unwrap(f.Data)
		if err != nil {
			continue
		}
		all = append(all, spoken{i + 1, f.Time.Sub(frames[0].Time), w.Src, w.Dst, append([]byte(nil), b...)})
	}
	return all
}

// capture reads the capture of a number.
func capture(t testing.TB, number string) []spoken {
	t.Helper()
	files, _ := filepath.Glob("../testdata/captures/" + number + "-*.pcap")
	if len(files) != 1 {
		t.Fatalf("capture %s: got files %v, want one", number, files)
	}
	return recorded(t, files[0])
}

// found listens to a conversation and returns "FRAME RULE", and each in full.
func found(all []spoken) (short, long []string) {
	c := sim.NewConversation(frame.DefaultNetID)
	for _, s := range all {
		for _, f := range c.Frame(s.at, s.src, s.dst, s.msg) {
			line, _ := describe.Message(s.msg)
			short = append(short, fmt.Sprintf("%d %s", s.number, f.Rule))
			long = append(long, fmt.Sprintf("frame %d at %v: %v\n\t%s", s.number, s.at, f, line))
		}
	}
	return short, long
}

// kernelHabits are findings in captures, "CAPTURE RULE", and why they are no
// errors.
var kernelHabits = map[string]string{
	"07 state-seq":  "removing the delay at B (tc qdisc del) drops what it holds, before it is heard",
	"07 next-sent":  "a STATE of one processor overtakes packets that another has ready, by microseconds",
	"07 ack-order":  "the same",
	"17 state-seq":  "the relay loses link messages of B before they are heard at A",
	"18 next-sent":  "a STATE of one processor overtakes the failover packets that another has ready",
	"18 ack-order":  "the same",
	"26 next-sent":  "packet 5 of each end comes in IP fragments, which are not read",
	"26 link-ack":   "the same",
	"27 packet-seq": "packets in IP fragments, which are not read",
	"27 link-ack":   "the same",
}

// TestConversationCaptures holds what kernels said to each other to all rules.
//
// Proves: wire.lint, link.simulated, socket.simulated
func TestConversationCaptures(t *testing.T) {
	files, err := filepath.Glob("../testdata/captures/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v, want captures", files, err)
	}
	used := map[string]int{}
	frames := 0
	for _, file := range files {
		all := recorded(t, file)
		frames += len(all)
		short, long := found(all)
		for i, s := range short {
			key := filepath.Base(file)[:2] + " " + strings.Fields(s)[1]
			if _, ok := kernelHabits[key]; ok {
				used[key]++
				continue
			}
			t.Errorf("%s %s", filepath.Base(file), long[i])
		}
	}
	for key := range kernelHabits {
		if used[key] == 0 {
			t.Errorf("habit %s: not seen", key)
		}
	}
	t.Logf("%d frames, %d rules, habits used: %v", frames, len(sim.ConversationRules()), used)
}

// TestConversationMidway begins to listen at many places of each capture.
//
// Proves: wire.lint, link.simulated
func TestConversationMidway(t *testing.T) {
	files, _ := filepath.Glob("../testdata/captures/*.pcap")
	for _, file := range files {
		all := recorded(t, file)
		for from := 1; from < len(all); from += 1 + len(all)/40 {
			short, long := found(all[from:])
			for i, s := range short {
				if _, ok := kernelHabits[filepath.Base(file)[:2]+" "+strings.Fields(s)[1]]; !ok {
					t.Errorf("%s from frame %d: %s", filepath.Base(file), all[from].number, long[i])
				}
			}
		}
	}
}
