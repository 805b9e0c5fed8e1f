// SPDX-License-Identifier: Apache-2.0

package station

import (
	"bufio"
	"os"
	"runtime"
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

// processTime is the CPU time of a process, 0 when it is gone.
func processTime(pid int) (d time.Duration) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// Behind the name, which may hold anything, and its parenthesis: the state is
	// field 3, user and system time are 14 and 15.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	for i := 14 - 3; i <= 15-3 && i < len(f); i++ {
		n, _ := strconv.ParseInt(f[i], 10, 64)
		d += time.Duration(n) * tick
	}
	return d
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
