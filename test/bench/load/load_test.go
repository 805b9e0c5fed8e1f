// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// A Meter counts what comes in its time, and says when that is over.
func TestMeter(t *testing.T) {
	const d = 20 * time.Millisecond
	m := load.NewMeter(d)
	begin, added := time.Now(), uint64(0)
	for m.Add(1, 100) {
		added++
	}
	r := m.Result()
	if r.Elapsed < d || r.Elapsed > time.Since(begin) {
		t.Errorf("got %v, want at least %v", r.Elapsed, d)
	}
	if r.Count == 0 || r.Count > added || r.Bytes != 100*r.Count {
		t.Errorf("got %d messages, %d bytes, of %d added", r.Count, r.Bytes, added)
	}
	if got, want := r.Rate(), float64(r.Count)/r.Elapsed.Seconds(); got != want {
		t.Errorf("got a rate of %v, want %v", got, want)
	}
}

// A Meter that got nothing, or was stopped while it warmed up, has counted nothing.
func TestMeterWithoutWindow(t *testing.T) {
	m := load.NewMeter(time.Hour)
	for range 1000 {
		m.Add(1, 1)
	}
	if r := m.Result(); !reflect.DeepEqual(r, load.Result{}) {
		t.Errorf("got %+v, want nothing", r)
	}
}

func TestTrips(t *testing.T) {
	const d = 10 * time.Millisecond
	trips := load.NewTrips(d)
	for trips.Next() {
	}
	r := trips.Result(64)
	if r.Count == 0 || r.Elapsed < d || r.P50 > r.P99 || r.P99 <= 0 || r.Bytes != 64*r.Count || r.Messages != 2*r.Count {
		t.Errorf("got %+v", r)
	}
	if r.Mallocs > 20 {
		t.Errorf("got %d allocations of %d round trips, want next to none", r.Mallocs, r.Count)
	}
}

var kept [][]byte

// Allocations between Begin and End are counted.
func TestMallocs(t *testing.T) {
	var m load.Mallocs
	if got := m.End(); got != 0 {
		t.Errorf("never begun: got %d", got)
	}
	m.Begin()
	for range 1000 {
		kept = append(kept, make([]byte, 100))
	}
	if got := m.End(); got < 1000 {
		t.Errorf("got %d, want 1000 at least", got)
	}
	kept = nil
}

func TestCount(t *testing.T) {
	var c load.Count
	for range 1000 {
		c.Add(2)
	}
	var r load.Result
	c.Fill(&r)
	if r.Count != 2000 || r.Messages == 0 || r.Messages >= 2000 {
		t.Errorf("got %+v, want 2000 and some of them in Messages", r)
	}
}

func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := load.StopOn(ctx)
	defer s.Release()
	if s.Load() {
		t.Error("set before")
	}
	cancel()
	for end := time.Now().Add(time.Minute); !s.Load(); {
		if time.Now().After(end) {
			t.Fatal("not set")
		}
	}
}
