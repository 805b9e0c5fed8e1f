// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// cpuQuota finds the tightest quota on the way from this process's control group
// up to the highest one to be seen, for either version of control groups. root
// is the file system.
// Sources: cgroups(7), proc_pid_mountinfo(5), the kernel's cgroup-v2 and
// sched-bwc documents.
func cpuQuota(root fs.FS) (Quota, error) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Quota{}, err
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return Quota{}, err
	}
	tightest := Quota{}
	for line := range strings.Lines(string(groups)) {
		// "4:cpu,cpuacct:/user.slice"; version 2 has the number 0 and no controller.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		kind, controller := "cgroup2", ""
		if part[1] != "" {
			kind, controller = "cgroup", "cpu"
			if !listed(part[1], controller) {
				continue
			}
		}
		mount, top, ok := cgroupMount(string(mounts), kind, controller)
		if !ok {
			continue
		}
		// Inside a container the mount may begin at the process's own group.
		inside, under := strings.CutPrefix(part[2], strings.TrimSuffix(top, "/"))
		if !under {
			inside = "/"
		}
		for dir := path.Join(mount, inside); ; dir = path.Dir(dir) {
			q := groupQuota(root, dir, kind)
			if q.CPUs > 0 && (tightest.CPUs == 0 || q.CPUs < tightest.CPUs) {
				tightest = q
			}
			if len(dir) <= len(mount) {
				break
			}
		}
	}
	return tightest, nil
}

// listed reports whether a comma-separated list has the word.
func listed(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// cgroupMount finds where a hierarchy is mounted and which of its groups is on
// top there.
func cgroupMount(mounts, kind, controller string) (mount, top string, ok bool) {
	for line := range strings.Lines(mounts) {
		// "30 23 0:26 /top /sys/fs/cgroup rw shared:4 - cgroup2 cgroup rw,cpu"
		left, right, found := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !found || len(l) < 5 || len(r) < 3 || r[0] != kind {
			continue
		}
		if controller == "" || listed(r[2], controller) {
			return path.Clean("/" + l[4]), l[3], true
		}
	}
	return "", "", false
}

// groupQuota reads one group's limit; no limit and no file are the same.
func groupQuota(root fs.FS, dir, kind string) Quota {
	read := func(name string) (file string, words []string) {
		file = path.Join(dir, name)
		b, _ := fs.ReadFile(root, strings.TrimPrefix(file, "/"))
		return file, strings.Fields(string(b))
	}
	var file, quota, period string
	if kind == "cgroup2" {
		f, words := read("cpu.max") // "max 100000" or "50000 100000"
		if len(words) != 2 {
			return Quota{}
		}
		file, quota, period = f, words[0], words[1]
	} else {
		f, q := read("cpu.cfs_quota_us") // -1 for none
		_, p := read("cpu.cfs_period_us")
		if len(q) != 1 || len(p) != 1 {
			return Quota{}
		}
		file, quota, period = f, q[0], p[0]
	}
	q, err1 := strconv.ParseInt(quota, 10, 64)
	p, err2 := strconv.ParseInt(period, 10, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return Quota{}
	}
	return Quota{CPUs: float64(q) / float64(p), File: file}
}

// readInt returns the number a file holds.
func readInt(path string) (int64, error) {
	s, err := readLine(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, os.ErrInvalid)
	}
	return n, nil
}
