// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

func init() {
	// An echo on a UNIX socket, at $SOCKET.
	children["echo"] = func() int {
		l, err := attach.Listen(os.Getenv("SOCKET"), 0o600, -1)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("ready")
		go untilClosed()
		c, err := l.Accept()
		for err == nil {
			var h attach.Header
			var b *attach.Buffer
			if b, err = c.ReadPooled(&h); err == nil {
				err = c.Write(&h, b.Data)
				b.Release()
			}
		}
		if err != io.EOF {
			fmt.Println(err)
		}
		return 0
	}
}

// BenchmarkRoundTrip is 64 bytes from a client to the daemon and back to a socket of the
// same client, beside the same records echoed by a process that does nothing else.
//
// Proves: daemon.cost
func BenchmarkRoundTrip(b *testing.B) {
	for _, part := range []string{"echo", "daemon"} {
		for _, ring := range []uint32{0, 1, 2} {
			if part == "echo" && ring > 0 {
				continue
			}
			for _, cpus := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/cpus=%d", part, [3]string{"socket", "ring", "ring-spin"}[ring], cpus), func(b *testing.B) {
					var old unix.CPUSet
					unix.SchedGetaffinity(0, &old)
					if cpus == 1 {
						defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
						pin(b, 0)
						defer func() { setAll(&old) }()
					}
					path := filepath.Join(b.TempDir(), "s")
					startChild(b, part, "SOCKET="+path, "PORTS="+strings.Join(ports(b, 2), " "), fmt.Sprint("GOMAXPROCS=", cpus))
					c, err := attach.Dial(within(b), path)
					if err != nil {
						b.Fatal(err)
					}
					defer c.Close()
					h := attach.Header{Op: attach.OpSend}
					if part == "daemon" {
						p := &program{t: b, c: c}
						c.SetDeadline(time.Time{})
						p.ask(attach.HelloRequest(1, 0, "bench"))
						h.Addr = p.socket(attach.KindRDM)
						if ring > 0 {
							p.id++
							r := attach.Header{Op: attach.OpRing, ID: p.id}
							if ring == 2 {
								r.Arg1 = 1000
							}
							p.send(r, nil)
							_, fd, err := c.ReadFD(&r, nil)
							if err != nil {
								b.Fatal(err)
							}
							if err := c.TakeRing(&r, fd); err != nil {
								b.Fatal(err)
							}
							if ring == 2 {
								c.SetSpin(-1)
							}
						}
					}
					data, buf := make([]byte, 64), make([]byte, 100)
					trip := func() {
						if err := c.Write(&h, data); err != nil {
							b.Fatal(err)
						}
						var got attach.Header
						if _, err := c.Read(&got, buf); err != nil {
							b.Fatal(err)
						}
					}
					for range 1000 {
						trip()
					}
					for b.Loop() {
						trip()
					}
				})
			}
		}
	}
}

// pin makes all threads of the process, and what it starts, run on one core.
func pin(b *testing.B, cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	setAll(&set)
}

func setAll(set *unix.CPUSet) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		var tid int
		fmt.Sscan(t.Name(), &tid)
		unix.SchedSetaffinity(tid, set)
	}
}
