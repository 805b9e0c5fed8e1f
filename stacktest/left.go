// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/utipc/utipc/internal/testhook"
)

// LeaveTimeout is how long a program may take to close what it has open once the test is over: a
// server's connection ends after the end of its client's has arrived. In a bubble it passes
// in no time.
const LeaveTimeout = 2 * time.Second

// report makes what is left open an error of the test.
func (c *Cluster) report() {
	if c.t.Failed() {
		return
	}
	left := c.left()
	for wait, until := time.Millisecond, time.Now().Add(LeaveTimeout); len(left) > 0 && time.Now().Before(until); wait *= 2 {
		time.Sleep(wait)
		left = c.left()
	}
	for _, what := range left {
		c.t.Errorf("stacktest: left open: %s", what)
	}
}

// left returns what is open: sockets, and calls of goroutines.
func (c *Cluster) left() (all []string) {
	for i, l := range c.all() {
		for _, o := range l.hook.Left() {
			all = append(all, fmt.Sprintf("node %d: %s, opened at %s", i, o.What, where(o.At)))
		}
	}
	for _, b := range c.group.blocked() {
		all = append(all, fmt.Sprintf("a goroutine in %s, called at %s", b.function, where(b.by)))
	}
	return all
}

// where is a place in a source file as go vet prints it, without the folder.
func where(p testhook.Place) string { return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line) }
