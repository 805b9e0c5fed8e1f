// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"bufio"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read to find a quota: a host of containers has thousands of
// mounts, a cgroup's limit is two numbers.
const (
	mostMounts = 4 << 20 // bytes
	mostLimit  = 64      // bytes
	mostDepth  = 64      // cgroups above one another
)

// cpuQuota is the CPU time that this process's cgroups, each within the next, let
// it use, in cores; false if they set no limit, or do not say. Changes later on
// are not seen.
func cpuQuota() (cores float64, ok bool) { return quotaIn(os.DirFS("/")) }

// quotaIn is cpuQuota on a machine whose files are root.
// Source: proc_pid_cgroup(5), proc_pid_mountinfo(5), the kernel's cgroup-v2 and
// sched-bwc documents.
func quotaIn(root fs.FS) (cores float64, ok bool) {
	cores = math.Inf(1)
	own := cgroups(root)
	for _, m := range cgroupMounts(root) {
		at, is := own[m.kind]
		if !is {
			continue
		}
		at, is = below(m.root, at)
		for range mostDepth {
			if !is {
				break
			}
			if k, limited := limitAt(root, m.kind, path.Join(m.point, at)); limited {
				cores = min(cores, k)
			}
			is = at != "."
			at = path.Dir(at)
		}
	}
	if math.IsInf(cores, 1) {
		return 0, false
	}
	return cores, true
}

// A cgroupKind is one of the two ways in which the kernel divides CPU time.
type cgroupKind uint8

const (
	cgroupV1 cgroupKind = iota // the controller "cpu" of its own
	cgroupV2                   // the one hierarchy
)

// A cgroupMount is where a hierarchy, from its cgroup root downwards, is seen.
type cgroupMount struct {
	kind        cgroupKind
	root, point string
}

// cgroups returns the process's place in the hierarchies.
func cgroups(root fs.FS) map[cgroupKind]string {
	own := map[cgroupKind]string{}
	for line := range lines(root, "proc/self/cgroup") {
		id, rest, _ := strings.Cut(line, ":")
		controllers, place, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case id == "0":
			own[cgroupV2] = place
		case slices.Contains(strings.Split(controllers, ","), "cpu"):
			own[cgroupV1] = place
		}
	}
	return own
}

// cgroupMounts returns where the hierarchies are mounted.
func cgroupMounts(root fs.FS) (all []cgroupMount) {
	for line := range lines(root, "proc/self/mountinfo") {
		before, after, _ := strings.Cut(line, " - ")
		mount, kind := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(kind) < 3 {
			continue
		}
		m := cgroupMount{root: unescape(mount[3]), point: unescape(mount[4])}
		switch {
		case kind[0] == "cgroup2":
			m.kind = cgroupV2
		case kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "cpu"):
			m.kind = cgroupV1
		default:
			continue
		}
		all = append(all, m)
	}
	return all
}

// below returns where place is, seen from root; false if it is not inside.
func below(root, place string) (rel string, ok bool) {
	root, place = path.Clean("/"+root), path.Clean("/"+place)
	if root == "/" {
		root = ""
	}
	rel, ok = strings.CutPrefix(place+"/", root+"/")
	return path.Clean(rel), ok
}

// limitAt returns the limit that the one cgroup at dir sets, in cores.
func limitAt(root fs.FS, kind cgroupKind, dir string) (cores float64, ok bool) {
	var quota, period string
	if kind == cgroupV2 {
		quota, period, _ = strings.Cut(short(root, path.Join(dir, "cpu.max")), " ")
	} else {
		quota = short(root, path.Join(dir, "cpu.cfs_quota_us"))
		period = short(root, path.Join(dir, "cpu.cfs_period_us"))
	}
	q, err := strconv.ParseInt(quota, 10, 64) // "max", or negative, is none
	if err != nil || q <= 0 {
		return 0, false
	}
	p, err := strconv.ParseInt(period, 10, 64)
	if err != nil || p <= 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}

// lines yields a file's lines; none if it cannot be read.
func lines(root fs.FS, name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := root.Open(name)
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(io.LimitReader(f, mostMounts)); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

// short returns a short file's text; "" if it cannot be read.
func short(root fs.FS, name string) string {
	f, err := root.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostLimit))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// unescape turns the octal numbers back into the characters that a line of mounts
// cannot hold.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
