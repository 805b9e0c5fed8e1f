// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"math"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A mailboxes is a Machine whose frames are the numbers of the boxes that they are for.
type mailboxes struct {
	Loop
	boxes [4]mailbox

	mu     sync.Mutex
	frames []int
}

// A mailbox is guarded by the Loop's lock.
type mailbox struct {
	n       int // messages
	readers List
	closed  bool
	by      time.Time
}

// inBubble runs f with a Loop of mailboxes in a bubble of synctest, and checks that nobody
// waits at the end.
func inBubble(t *testing.T, f func(t *testing.T, m *mailboxes)) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mailboxes)
		m.Init(Config{Machine: m, Mode: Sleep})
		if err := m.SetSources(nil); err != nil {
			t.Fatal(err)
		}
		go m.Run()
		f(t, m)
		synctest.Wait()
		m.Lock()
		if s := m.State(); s.Led || s.Parked > 0 {
			t.Errorf("a call leads: %t, and %d are parked", s.Led, s.Parked)
		}
		for _, w := range m.idle {
			if w.entered {
				t.Error("a Waiter that nobody has is among those that wait")
			}
		}
		m.Stop()
		m.Unlock()
		m.Stopped()
		m.Close()
	})
}

// arrive is the device: a frame has come.
func (m *mailboxes) arrive(box int) {
	m.mu.Lock()
	m.frames = append(m.frames, box)
	m.mu.Unlock()
	m.Wake()
}

func (m *mailboxes) Poll(now time.Duration, receive bool) (busy bool) {
	if receive {
		m.mu.Lock()
		frames := m.frames
		m.frames = nil
		m.mu.Unlock()
		for _, i := range frames {
			m.put(i)
		}
		busy = len(frames) > 0
	}
	m.Polled(now, receive)
	return busy
}

func (m *mailboxes) Due(time.Duration) time.Duration { return math.MaxInt64 }

func (m *mailboxes) Do(j *Job) {
	for j != nil {
		m.put(j.Owner.(int))
		j = j.Done()
	}
}

func (m *mailboxes) put(box int) {
	m.boxes[box].n++
	m.RouseFirst(m.boxes[box].readers)
}

// read takes a message out of a box, for which it waits.
func (m *mailboxes) read(ctx context.Context, box int) error {
	b := &m.boxes[box]
	m.Lock()
	defer m.Unlock()
	c := Wait{List: &b.readers, Closed: &b.closed, By: &b.by, Ctx: ctx}
	defer m.Leave(&c)
	return m.Await(&c, func() bool {
		if b.n == 0 {
			return false
		}
		b.n--
		return true
	})
}

// Each call gets its message when it comes, in whatever order, leader or not; the role goes
// on to the next call, and to the background goroutine after the last.
// Mutations: Leave wakes nobody; Rouse does not ring for a leader; Wake rouses one parker.
func TestCallsHearAtOnce(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		inBubble(t, func(t *testing.T, m *mailboxes) {
			ended := make([]chan error, 3)
			for i := range ended {
				ended[i] = make(chan error, 1)
				go func() { ended[i] <- m.read(context.Background(), i) }()
				synctest.Wait()
			}
			began := time.Now()
			for _, i := range order {
				m.arrive(i)
				if err := <-ended[i]; err != nil {
					t.Error(err)
				}
			}
			<-time.After(10 * doze) // the background goroutine leads, and sleeps
			m.arrive(3)
			synctest.Wait()
			m.Lock()
			if m.boxes[3].n != 1 {
				t.Error("a frame for which no call waits stays in the device")
			}
			m.Unlock()
			if d := time.Since(began); d != 10*doze {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// What is submitted while another goroutine has the lock is done when that unlocks, and wakes
// a reader. Mutation: Unlock does not look at the jobs.
func TestHolderDoesJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, m *mailboxes) {
		read := make(chan error, 1)
		go func() { read <- m.read(context.Background(), 0) }()
		synctest.Wait()
		m.Lock()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { m.Submit(NewJob(0)) })
		}
		synctest.Wait() // all have found it taken
		m.Unlock()
		all.Wait()
		if err := <-read; err != nil || m.boxes[0].n != 2 {
			t.Errorf("got %v, and %d messages are left, want 2", err, m.boxes[0].n)
		}
	})
}

// A call that waits ends at once when what it waits for is closed, its context is done or its
// deadline has come, and tries again when it has said so.
// Mutations: Await does not look at one of them; block does not look at again.
func TestWaitEnds(t *testing.T) {
	for what, c := range map[string]struct {
		end  func(m *mailboxes, cancel context.CancelFunc)
		want error
	}{
		"closed":   {func(m *mailboxes, _ context.CancelFunc) { m.boxes[0].closed = true }, net.ErrClosed},
		"context":  {func(_ *mailboxes, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"deadline": {func(m *mailboxes, _ context.CancelFunc) { m.boxes[0].by = time.Now() }, os.ErrDeadlineExceeded},
	} {
		inBubble(t, func(t *testing.T, m *mailboxes) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var ended [2]chan error // of a leader, and of one that is parked
			for i := range ended {
				ended[i] = make(chan error, 1)
				go func() { ended[i] <- m.read(ctx, 0) }()
				synctest.Wait()
			}
			began := time.Now()
			m.Lock()
			c.end(m, cancel)
			m.RouseAll(m.boxes[0].readers)
			m.Unlock()
			for _, e := range ended {
				if err := <-e; err != c.want {
					t.Errorf("%s: got %v", what, err)
				}
			}
			if d := time.Since(began); d != 0 {
				t.Errorf("%s: ended after %v", what, d)
			}
		})
	}
	inBubble(t, func(t *testing.T, m *mailboxes) {
		var list List
		for _, c := range []struct {
			how  func(c *Wait)
			want time.Duration
		}{
			{(*Wait).TryAgain, 0},
			{func(c *Wait) { c.LookBy(time.Now().Add(time.Second)) }, 99 * time.Second},
		} {
			began, tries := time.Now(), 0
			m.Lock()
			w := Wait{List: &list}
			m.Await(&w, func() bool {
				if tries++; tries < 100 {
					c.how(&w)
				}
				return tries == 100
			})
			m.Leave(&w)
			m.Unlock()
			if d := time.Since(began); d != c.want {
				t.Errorf("100 attempts took %v, want %v", d, c.want)
			}
		}
	})
}
