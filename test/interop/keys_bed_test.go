// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/rig"
)

// A keyCluster is a segment with a kernel of each kind that can encrypt, and a place for
// a node of ours. Everything on it is watched.
type keyCluster struct {
	ctx     context.Context
	segment *Segment
	links   []rig.Link
	kernels []*keeper
	seen    sealLog
	casts   uint32   // number of the newest multicast
	flows   uint32   // instance of the newest stream
	notes   []string // what is worth a line in the table
}

// A keeper is a kernel that is given keys. It starts without a bearer.
type keeper struct {
	*theirs
	flavour  rig.Flavour
	link     rig.Link
	heard    *rig.Job // hears multicast
	switches int      // how often it has changed its key, see switched
}

// Services of the kernels, the instance being a kernel's place.
const (
	keyClusterEcho  = 18920 // datagrams come back
	keyClusterConn  = 18921 // connections are echoed
	keyClusterCast  = 18922 // multicast is heard
	keyClusterOurs  = 18923 // of ours: connections are echoed
	keyClusterHeard = 18924 // of ours: multicast is heard
)

const ourPlace = 0 // that of our node, in the segment

// newKeyCluster starts both kernels. There is room for so many nodes of ours: the first has place 0, the
// others those after the kernels.
func newKeyCluster(t *testing.T, testTimeout time.Duration, ours int) *keyCluster {
	t.Helper()
	var images []*rig.Image
	for _, f := range rig.Emulated {
		images = append(images, rig.RequireKernel(t, f))
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	v := &keyCluster{ctx: ctx, seen: newSealLog()}
	var macs []frame.MAC
	for i := range ours + len(images) {
		macs = append(macs, keyClusterMAC(i))
	}
	var err error
	v.segment, v.links, err = NewSegment(macs...)
	must(t, err)
	t.Cleanup(func() {
		v.segment.Close()
		for _, l := range v.links {
			l.Close()
		}
	})
	v.segment.watch(v.seen.see)
	began := time.Now()
	booted := make(chan error, len(images))
	for i, im := range images {
		k := &keeper{theirs: &theirs{ctx: ctx, node: ourAddr + stack.NodeAddr(1+i)}, flavour: im.Flavour, link: v.links[1+i]}
		v.kernels = append(v.kernels, k)
		t.Cleanup(func() {
			if k.guest != nil {
				k.guest.Close()
				if t.Failed() {
					t.Logf("console of %s:\n%s", k.flavour, k.guest.Console())
				}
			}
		})
		go func() { booted <- k.boot(im) }()
	}
	for range images {
		err = errors.Join(err, <-booted)
	}
	must(t, err)
	t.Logf("two kernels up in %v", time.Since(began).Round(time.Millisecond))
	return v
}

func keyClusterMAC(place int) frame.MAC { return frame.MAC{0x52, 0x54, 0, 0, 2, byte(1 + place)} }

// place is where the kernel is in the segment.
func (k *keeper) place() int { return int(k.node - ourAddr) }

// boot starts the kernel, and the programs that serve whoever comes.
func (k *keeper) boot(im *rig.Image) (err error) {
	k.guest, err = rig.Start(k.ctx, im, rig.Options{
		Name: "kernel-" + strings.ReplaceAll(string(k.flavour), ".", "-"), Address: fmt.Sprintf("%x", uint32(k.node)), Links: []rig.Link{k.link},
	})
	if err != nil {
		return err
	}
	for i, words := range []string{
		fmt.Sprint("subscribe ", linkStateType, " 0 0xffffffff"),
		fmt.Sprint("rdm-echo ", keyClusterEcho, " ", k.place(), " -q"),
		fmt.Sprint("listen-stream ", keyClusterConn, " ", k.place(), " -q"),
		fmt.Sprint("mcast-recv ", keyClusterCast, " ", k.place()),
	} {
		j, err := k.guest.Job(k.ctx, append([]string{"peer"}, strings.Fields(words)...)...)
		if err != nil {
			return err
		}
		if _, err := j.Expect(k.ctx, "ready"); err != nil {
			return err
		}
		switch i {
		case 0:
			k.watch = j
		case 3:
			k.heard = j
		}
	}
	return nil
}

// do carries out a command that must succeed, and returns what it printed.
func (k *keeper) do(t *testing.T, format string, args ...any) string {
	t.Helper()
	cmd := fmt.Sprintf(format, args...)
	out, err := k.guest.Run(k.ctx, cmd)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", k.flavour, cmd, err, out)
	}
	return out
}

// setKey gives the kernel a key; words say which, "master" or "nodeid" and whose, or
// none for the cluster's.
func (k *keeper) setKey(t *testing.T, key string, words ...string) {
	t.Helper()
	k.do(t, "tipc node set key %s %s", key, strings.Join(words, " "))
}

// enable puts the kernel on the segment.
func (k *keeper) enable(t *testing.T) {
	t.Helper()
	k.do(t, "tipc bearer enable media eth device eth0 && tipc bearer set tolerance %d media eth device eth0", patient.Milliseconds())
}

// disable takes the kernel off the segment, and its keys away.
func (k *keeper) disable(t *testing.T) {
	t.Helper()
	must(t, k.guest.DisableBearer(k.ctx, "eth0"))
	k.do(t, "tipc node flush key")
}

// open makes a node of ours on the segment.
func (v *keyCluster) open(t *testing.T, e stack.Encryption) *ours { return v.openAt(t, ourPlace, e) }

func (v *keyCluster) openAt(t *testing.T, place int, e stack.Encryption) *ours {
	t.Helper()
	c, err := OpenCable("eth0", v.links[place])
	must(t, err)
	for b := make([]byte, 1); ; { // what came while nobody was there
		if _, err := unix.Read(c.FD(), b); err != nil {
			break
		}
	}
	s := &ours{ctx: v.ctx, cables: []*Cable{c}}
	s.node, err = stack.Open(v.ctx, stack.Config{
		Address: ourAddr + stack.NodeAddr(place), Bearers: []stack.Bearer{c}, Encryption: e,
		Logger: slog.New(slog.NewTextHandler(logWriter{t}, nil)),
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			v.say(t)
		}
		v.close(t, s)
	})
	must(t, s.node.Admin().SetLink(context.Background(), 0, "eth0", stack.LinkConfig{Tolerance: patient}))
	return s
}

// close ends a node of ours, once. All its memory must have come back.
func (v *keyCluster) close(t *testing.T, s *ours) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := s.node.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
		t.Errorf("close: %v", err)
	}
	if st := musthave.Get(s.node.Admin().Stats(context.Background())); st.ChunksFree != st.ChunksTotal {
		t.Errorf("%d of %d chunks came back", st.ChunksFree, st.ChunksTotal)
	}
}

// note keeps what was seen, for the table.
func (v *keyCluster) note(t *testing.T, format string, args ...any) {
	t.Helper()
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
	t.Log(v.notes[len(v.notes)-1])
}

// say tells, for the log, what each station has sent.
func (v *keyCluster) say(t *testing.T) {
	for i := range v.links {
		t.Logf("station %d sent %+v", i, v.seen.of(keyClusterMAC(i)))
	}
}

// until asks again and again until the answer is yes.
func (v *keyCluster) until(t *testing.T, yes func() bool, format string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 2*keyClusterTimeout)
	defer cancel()
	(&pair{t: t, ctx: ctx}).until(yes, format, args...)
}
