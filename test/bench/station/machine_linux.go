// SPDX-License-Identifier: Apache-2.0

package station

import (
	"bufio"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ThisMachine describes this one; what it does not tell is "unknown".
func ThisMachine(used [2]int) Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), Used: used, Kernel: "unknown", Go: runtime.Version() + " " + runtime.GOARCH}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.Memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				m.CPU = strings.TrimSpace(v)
				break
			}
		}
	}
	return m
}

// A Usage is CPU time up to now.
type Usage struct {
	busy, all time.Duration // of all cores
	own       time.Duration // of this process and its children
}

// tick is the unit of /proc/stat: USER_HZ, 100 a second on every machine.
const tick = time.Second / 100

// ReadUsage reads it. Children that have ended are counted anyway, pids are those
// that have not.
func ReadUsage(pids []int) (u Usage) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, w := range strings.Fields(line) {
		n, err := strconv.ParseInt(w, 10, 64)
		// user nice system idle iowait irq softirq steal; what follows is in user.
		if err != nil || i == 0 || i > 8 {
			continue
		}
		u.all += time.Duration(n) * tick
		if i != 4 && i != 5 {
			u.busy += time.Duration(n) * tick
		}
	}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if unix.Getrusage(who, &r) == nil {
			u.own += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	for _, pid := range pids {
		u.own += processTime(pid)
	}
	return u
}

// processTime is the CPU time of a process and of its children that have ended, 0 when it
// is gone.
func processTime(pid int) (d time.Duration) {
	f := processFields(pid)
	// User and system time are fields 14 and 15, those of children that were waited for 16
	// and 17.
	for i := 14 - 3; i <= 17-3 && i < len(f); i++ {
		n, _ := strconv.ParseInt(f[i], 10, 64)
		d += time.Duration(n) * tick
	}
	return d
}

// processFields are what the kernel tells of a process, from field 3 on; none when it is
// gone.
func processFields(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// Field 2 is the name, which may hold anything, and its parenthesis.
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// children are the processes that those of pids have started. It looks at every process
// there is.
func children(pids []int) (found []int) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := processFields(pid); len(f) > 1 { // field 4: the parent
			if parent, err := strconv.Atoi(f[1]); err == nil && slices.Contains(pids, parent) {
				found = append(found, pid)
			}
		}
	}
	return found
}

// Others is the share of all cores' time since before that was used, and not by this
// process and its children: what else runs, and what a hypervisor keeps (steal).
func (u Usage) Others(before Usage) float64 {
	all := u.all - before.all
	if all <= 0 {
		return 0
	}
	return max(0, float64((u.busy-before.busy)-(u.own-before.own))/float64(all))
}
