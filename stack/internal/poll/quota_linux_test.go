// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	mountV2     = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountV1     = "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
	mountSet    = "32 23 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	mountDocker = "31 23 0:27 /docker/a1 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
)

// Proves: poll.spin
func TestQuota(t *testing.T) {
	long := strings.Repeat("x/", 500)
	for name, c := range map[string]struct {
		files map[string]string
		want  float64 // 0: no limit
	}{
		"nothing known": {nil, 0},
		"v2": {map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/app/cpu.max": "50000 100000\n",
		}, 0.5},
		"v2, no limit": {map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/app/cpu.max": "max 100000\n",
		}, 0},
		"v2, a parent's limit is lower": {map[string]string{
			"proc/self/cgroup": "0::/pod/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/pod/app/cpu.max": "200000 100000\n", "sys/fs/cgroup/pod/cpu.max": "30000 20000\n",
		}, 1.5},
		"v2, a parent's limit is higher": {map[string]string{
			"proc/self/cgroup": "0::/pod/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/pod/app/cpu.max": "20000 100000\n", "sys/fs/cgroup/pod/cpu.max": "300000 100000\n",
		}, 0.2},
		"v2, a grandparent's alone": {map[string]string{
			"proc/self/cgroup": "0::/pod/app/x\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/pod/cpu.max": "300000 100000\n", "sys/fs/cgroup/pod/app/cpu.max": "max 100000\n",
		}, 3},
		"v2, in a namespace of its own": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/cpu.max": "75000 100000\n",
		}, 0.75},
		"v1": {map[string]string{
			"proc/self/cgroup": "4:cpu,cpuacct:/app\n5:cpuset:/\n0::/\n", "proc/self/mountinfo": mountSet + mountV1,
			"sys/fs/cgroup/cpuset/app/cpu.cfs_quota_us": "1\n", "sys/fs/cgroup/cpuset/app/cpu.cfs_period_us": "50000\n",
			"sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us": "25000\n", "sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us": "50000\n",
		}, 0.5},
		"v1, no limit": {map[string]string{
			"proc/self/cgroup": "4:cpu,cpuacct:/app\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us": "100000\n",
		}, 0},
		"v1, a parent's": {map[string]string{
			"proc/self/cgroup": "4:cpu:/pod/app\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us": "100000\n", "sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_period_us": "100000\n",
		}, 1},
		"v1, mounted from the container's cgroup": {map[string]string{
			"proc/self/cgroup": "4:cpu:/docker/a1/x\n", "proc/self/mountinfo": mountDocker,
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "40000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 0.4},
		"v1, mounted from somebody else's cgroup": {map[string]string{
			"proc/self/cgroup": "4:cpu:/docker/a12\n", "proc/self/mountinfo": mountDocker,
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "40000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 0},
		"v1 for CPU time beside v2": {map[string]string{
			"proc/self/cgroup": "4:cpu:/app\n0::/app\n", "proc/self/mountinfo": mountV2 + mountV1,
			"sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us": "10000\n", "sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us": "100000\n",
		}, 0.1},
		"v2 where the process is not": {map[string]string{
			"proc/self/cgroup": "4:cpu:/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/cpu.max": "50000 100000",
		}, 0},
		"a mount point with a space": {map[string]string{
			"proc/self/cgroup":      "0::/a b\n",
			"proc/self/mountinfo":   `30 23 0:26 / /my\040groups rw - cgroup2 none rw` + "\n",
			"my groups/a b/cpu.max": "50000 100000",
		}, 0.5},
		"not numbers": {map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/app/cpu.max": "many few\n",
		}, 0},
		"a period of nothing": {map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/app/cpu.max": "1000 0\n",
		}, 0},
		"a number alone": {map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/app/cpu.max": "1000",
		}, 0},
		"upwards out of the tree": {map[string]string{
			"proc/self/cgroup": "0::/../../etc\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/cpu.max": "60000 100000", "sys/cpu.max": "1 100000", "etc/cpu.max": "1 100000",
		}, 0.6},
		"lines cut short": {map[string]string{"proc/self/cgroup": "0\n4:cpu\n::\n\n0::", "proc/self/mountinfo": "1 2\n - \n1 2 3 4 5 - cgroup2\n"}, 0},
		"a path without end": {map[string]string{
			"proc/self/cgroup": "0::/" + long + "\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/" + long + "cpu.max": "50000 100000", "sys/fs/cgroup/cpu.max": "10000 100000",
		}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			got, ok := quotaIn(root)
			if ok != (c.want != 0) || ok && got != c.want {
				t.Errorf("got %v %v, want %v", got, ok, c.want)
			}
		})
	}
}

// An endless is a tree whose every file says the same for ever.
type endless string

func (e endless) Open(string) (fs.File, error) { return e, nil }
func (e endless) Stat() (fs.FileInfo, error)   { return nil, fs.ErrInvalid }
func (e endless) Close() error                 { return nil }
func (e endless) Read(b []byte) (n int, err error) {
	for len(b)-n >= len(e) {
		n += copy(b[n:], e)
	}
	return max(n, copy(b, e)), nil
}

func TestQuotaOfEndlessFiles(t *testing.T) {
	for _, text := range []string{"0::/\n", "0", mountV2} {
		if cores, ok := quotaIn(endless(text)); ok {
			t.Errorf("%q for ever: a limit of %v", text, cores)
		}
	}
}

// What this machine says is readable and makes sense.
func TestQuotaHere(t *testing.T) {
	if cores, ok := cpuQuota(); ok && cores <= 0 {
		t.Errorf("a limit of %v cores", cores)
	} else {
		t.Log(cores, ok)
	}
}
