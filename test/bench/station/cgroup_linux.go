// SPDX-License-Identifier: Apache-2.0

package station

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// quotaPeriod is the time in which a quota is used up and comes anew, in
// microseconds; what container runtimes choose.
const quotaPeriod = 100_000

// A cgroup limits the CPU time of the processes put into it.
type cgroup struct{ dir string }

// ErrNoCgroup means that this machine gives no cgroup to limit CPU time with.
var ErrNoCgroup = errors.New("no cgroup can be made here")

var groups atomic.Int32

// newCgroup makes a group that may use percent of one core.
func newCgroup(percent int) (*cgroup, error) {
	root, version, err := cpuController()
	if err != nil {
		return nil, err
	}
	sweep(root)
	g := &cgroup{filepath.Join(root, fmt.Sprintf("utipc-bench-%d-%d", os.Getpid(), groups.Add(1)))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCgroup, err)
	}
	quota := strconv.Itoa(quotaPeriod * percent / 100)
	settings := [][2]string{{"cpu.max", quota + " " + strconv.Itoa(quotaPeriod)}}
	if version == 1 {
		settings = [][2]string{{"cpu.cfs_period_us", strconv.Itoa(quotaPeriod)}, {"cpu.cfs_quota_us", quota}}
	}
	for _, s := range settings {
		if err := os.WriteFile(filepath.Join(g.dir, s[0]), []byte(s[1]), 0); err != nil {
			g.remove()
			return nil, fmt.Errorf("%w: %w", ErrNoCgroup, err)
		}
	}
	return g, nil
}

// sweep removes groups whose maker was killed before it could.
func sweep(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, "utipc-bench-*"))
	for _, dir := range dirs {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "utipc-bench-"), "-")
		if _, err := os.Stat("/proc/" + maker); errors.Is(err, os.ErrNotExist) {
			os.Remove(dir) // refused while a process is in it
		}
	}
}

// add puts a process into the group.
func (g *cgroup) add(pid int) error {
	return os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}

// remove removes the group, whose processes have ended; the kernel may need a moment
// to see that.
func (g *cgroup) remove() {
	for range 100 {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// cpuController finds where groups with a CPU quota may be made: the mount of the cpu
// controller, version 1, or a version 2 mount whose children have it.
func cpuController() (dir string, version int, err error) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return "", 0, fmt.Errorf("%w: %w", ErrNoCgroup, err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 4 {
			continue
		}
		switch w[2] {
		case "cgroup":
			if slices.Contains(strings.Split(w[3], ","), "cpu") {
				return w[1], 1, nil
			}
		case "cgroup2":
			b, err := os.ReadFile(filepath.Join(w[1], "cgroup.subtree_control"))
			if err == nil && slices.Contains(strings.Fields(string(b)), "cpu") {
				return w[1], 2, nil
			}
		}
	}
	return "", 0, fmt.Errorf("%w: no mount has the cpu controller", ErrNoCgroup)
}
