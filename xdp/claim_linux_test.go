// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// roleKey names the environment variable that makes the test binary another
// process, which is given the name of an interface.
const roleKey = "UTIPC_XDP_TEST_ROLE"

// squatKey names the variable that says where squat listens.
const squatKey = "UTIPC_XDP_TEST_SQUAT"

var roles = map[string]func(ifname string){
	"privilege": tryWithoutPrivilege,
	"describe":  describe,
	"own":       own,
	"squat":     squat,
	"rights":    tryEachDriver,
}

// own holds an interface until its standard input ends.
func own(name string) {
	p, err := patient.OpenPacket(name, nil)
	fmt.Println("opened:", err)
	io.Copy(io.Discard, os.Stdin)
	if p != nil {
		p.Close()
	}
}

// wantOwned tries to open what somebody owns.
func wantOwned(t *testing.T, d *bed, says ...string) {
	t.Helper()
	var p *xdp.Packet
	var err error
	d.a.Do(func() { p, err = patient.OpenPacket(nameA, nil) })
	if p != nil {
		p.Close()
	}
	var owned *xdp.OwnedError
	if !errors.As(err, &owned) || owned.Interface != nameA {
		t.Fatalf("got %v, want an OwnedError about %s", err, nameA)
	}
	for _, want := range append(says, "since 20", fmt.Sprintf("uid %d", os.Getuid())) {
		if !strings.Contains(owned.Owner, want) {
			t.Errorf("owner: got %q, want %q in it", owned.Owner, want)
		}
	}
	for _, want := range []string{owned.Owner, "stop that node", "macvlan", "veth"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
}

// Proves: device.open
func TestOneNodeOwnsAnInterface(t *testing.T) {
	d := newBed(t, 1500)
	before := runtime.NumGoroutine()
	p, _ := open(t, d.a, nameA, nil)
	for range 3 {
		wantOwned(t, d, fmt.Sprintf("pid %d, program xdp.test", os.Getpid()))
	}
	// The same name in another namespace is another interface.
	d.b.Run("ip", "link", "set", "dev", nameB, "down")
	d.b.Run("ip", "link", "set", "dev", nameB, "name", nameA)
	d.b.Run("ip", "link", "set", "dev", nameA, "up")
	q, _ := open(t, d.b, nameA, nil)
	p.Close()
	q.Close()
	waitGoroutines(t, before)
	r, _ := open(t, d.a, nameA, nil)
	r.Close()
}

// Proves: device.open
func TestAnotherProcessOwnsAnInterface(t *testing.T) {
	d := newBed(t, 1500)
	for _, end := range []string{"close", "kill"} {
		cmd, stdin := startOwner(t, d)
		wantOwned(t, d, fmt.Sprintf("pid %d, program", cmd.Process.Pid))
		if end == "kill" {
			cmd.Process.Kill()
		}
		stdin.Close()
		err := cmd.Wait()
		if end == "close" && err != nil {
			t.Errorf("the other process: %v", err)
		}
		p, _ := open(t, d.a, nameA, nil)
		p.Close()
	}
}

// What a hostile or stuck owner says does no harm.
func TestStrangeOwners(t *testing.T) {
	d := newBed(t, 1500)
	var addr *net.UnixAddr
	var release func()
	var err error
	d.a.Do(func() { addr, release, err = xdp.ClaimSilently(nameA) })
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	// Where the newcomer is held up for the whole timeout, it has not even asked.
	const soon = 100 * time.Millisecond
	deaf := fmt.Sprintf("a process that does not answer, uid %d", os.Getuid())
	for _, c := range []struct {
		says, want string
		timeout    time.Duration // 0: the answer is waited for
	}{
		{"", fmt.Sprintf("pid %d, which says nothing, uid %d", os.Getpid(), os.Getuid()), soon},
		{"\x1b[2Jboo\nsecond\xff\n", fmt.Sprintf(`\u001b[2Jboo\nsecond\xff, uid %d`, os.Getuid()), 0},
		{strings.Repeat("x", 100000), strings.Repeat("x", 200) + fmt.Sprintf(", uid %d", os.Getuid()), 0},
	} {
		var l net.Listener
		d.a.Do(func() { l, err = net.ListenUnix("unix", addr) })
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, c.says)
				conn.Close()
			}
		}()
		d.a.Do(func() { _, err = xdp.Timeouts{Claim: c.timeout}.OpenPacket(nameA, nil) })
		var owned *xdp.OwnedError
		if !errors.As(err, &owned) || owned.Owner != c.want && (c.timeout == 0 || owned.Owner != deaf) {
			t.Errorf("owner that says %.20q: got %v, want %q", c.says, err, c.want)
		}
		l.Close()
		<-done
	}
	// One that never accepts costs the timeout, and so does one without a listener.
	hasty := xdp.Timeouts{Claim: soon}
	var l net.Listener
	d.a.Do(func() { l, err = net.ListenUnix("unix", addr) })
	if err != nil {
		t.Fatal(err)
	}
	d.a.Do(func() { _, err = hasty.OpenPacket(nameA, nil) })
	var owned *xdp.OwnedError
	if !errors.As(err, &owned) || !strings.Contains(owned.Owner, "says nothing") && owned.Owner != deaf {
		t.Errorf("silent owner: got %v, want an OwnedError", err)
	}
	l.Close()
	d.a.Do(func() { _, err = hasty.OpenPacket(nameA, nil) })
	if !errors.As(err, &owned) || owned.Owner != deaf {
		t.Errorf("owner without a listener: got %v, want an OwnedError", err)
	}
}

// squat listens, as somebody without any right, where owners of that name introduce
// themselves, and says that it is one of them, until its standard input ends.
func squat(name string) {
	var all []net.Listener
	for _, addr := range []string{cmp.Or(os.Getenv(squatKey), "@utipc/eth/"+name)} {
		l, err := net.Listen("unix", addr)
		if err != nil {
			fmt.Println("listening:", err)
			return
		}
		all = append(all, l)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(c, "pid 1, program utipc, since yesterday\n")
				c.Close()
			}
		}()
	}
	// It would claim, too, if it could.
	_, _, err := xdp.ClaimSilently(name)
	fmt.Println("listening; claim not permitted:", errors.Is(err, os.ErrPermission))
	io.Copy(io.Discard, os.Stdin)
	for _, l := range all {
		l.Close()
	}
}

// startSquatter starts squat as a user without rights in the namespace at end A.
func startSquatter(t *testing.T, d *bed, env ...string) {
	t.Helper()
	cmd := asNobody("squat", nameA, nil, env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.a.Do(func() { err = cmd.Start() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "listening; claim not permitted: true\n" {
		t.Fatalf("the squatter: got %q, %v", line, err)
	}
}

// A user without rights keeps nobody off an interface, whatever names it listens on, nor
// speaks for an owner.
//
// Mutations it catches: a claim that is a name in the abstract namespace; askOwner without a look at
// the user.
func TestClaimOfAStranger(t *testing.T) {
	if os.Getuid() != 0 {
		tier.Missing(t, "it takes root to be somebody else")
	}
	d := newBed(t, 1500)
	startSquatter(t, d)
	p, _ := open(t, d.a, nameA, nil)
	wantOwned(t, d, fmt.Sprintf("pid %d, program xdp.test", os.Getpid()))
	p.Close()
	// It takes the very name of an owner that has none yet.
	var addr *net.UnixAddr
	var release func()
	var err error
	d.a.Do(func() { addr, release, err = xdp.ClaimSilently(nameA) })
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	startSquatter(t, d, squatKey+"="+addr.Name)
	var owned *xdp.OwnedError
	d.a.Do(func() { _, err = patient.OpenPacket(nameA, nil) })
	if !errors.As(err, &owned) || !strings.HasPrefix(owned.Owner, "a process of uid 0, in whose place pid ") || strings.Contains(owned.Owner, "yesterday") {
		t.Errorf("got %v, want an owner that a stranger does not speak for", err)
	}
}

// Of several that claim an interface at once one gets it, and all others are told who.
//
// Mutation it catches: takeClaim that does not try again where two have found each other.
func TestClaimsAtOnce(t *testing.T) {
	d := newBed(t, 1500)
	for range 100 {
		var inside, all sync.WaitGroup
		got := make(chan func(), 4)
		inside.Add(cap(got))
		for range cap(got) {
			all.Go(func() {
				d.a.Do(func() {
					inside.Done()
					inside.Wait()
					release, err := patient.TakeClaim(nameA)
					var owned *xdp.OwnedError
					switch {
					case err == nil:
						got <- release
					case !errors.As(err, &owned):
						t.Errorf("got %v, want an OwnedError", err)
					}
				})
			})
		}
		all.Wait()
		close(got)
		if len(got) != 1 {
			t.Fatalf("%d have the interface, want 1", len(got))
		}
		for release := range got {
			release()
		}
	}
}

// A claim goes with its interface: renamed, it is still claimed; another of the old name is free.
//
// Mutation it catches: a claim by name.
func TestClaimFollowsInterface(t *testing.T) {
	d := newBed(t, 1500)
	p, _ := open(t, d.a, nameA, nil)
	defer p.Close()
	d.a.Run("ip", "link", "set", "dev", nameA, "down")
	d.a.Run("ip", "link", "set", "dev", nameA, "name", "renamed0")
	d.a.Run("ip", "link", "set", "dev", "renamed0", "up")
	var owned *xdp.OwnedError
	var err error
	hasty := xdp.Timeouts{Claim: 100 * time.Millisecond} // the owner answers by the old name
	d.a.Do(func() { _, err = hasty.OpenPacket("renamed0", nil) })
	if !errors.As(err, &owned) {
		t.Errorf("got %v, want an OwnedError", err)
	}
	d.a.Run("ip", "link", "add", nameA, "type", "veth", "peer", "name", "peer0")
	d.a.Run("ip", "link", "set", "dev", nameA, "up")
	q, _ := open(t, d.a, nameA, nil)
	q.Close()
}

// A newcomer finds the claim of a process that has been killed and not yet ended:
// it does not answer any more, and a moment later the claim is free.
func TestOwnerThatIsEnding(t *testing.T) {
	d := newBed(t, 1500)
	cmd, _ := startOwner(t, d)
	// Stopped, it is as far from answering as one that is being taken apart.
	cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("stopping the owner: %v, %#x", err, status)
	}
	done := make(chan error, 1)
	go func() {
		var p *xdp.Packet
		var err error
		d.a.Do(func() { p, err = patient.OpenPacket(nameA, nil) })
		if err == nil {
			p.Close()
		}
		done <- err
	}()
	for end := time.Now().Add(testTimeout); !connected(t, d.a, "@utipc/eth/"+nameA+"/") && time.Now().Before(end); {
		runtime.Gosched()
	}
	cmd.Process.Kill()
	cmd.Wait()
	if err := <-done; err != nil {
		t.Fatalf("got %v, want the interface", err)
	}
}

// connected reports whether somebody has connected to a UNIX socket whose name begins
// so, accepted or not.
func connected(t *testing.T, ns *netns.NS, name string) bool {
	t.Helper()
	var table []byte
	var err error
	ns.Do(func() { table, err = os.ReadFile("/proc/thread-self/net/unix") })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(table), name) > 1 // the listener and the connection's end
}

// startOwner starts a process that owns the interface at end A until its standard
// input, the second result, is closed.
func startOwner(t *testing.T, d *bed) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", nameA)
	cmd.Env = append(os.Environ(), roleKey+"=own")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.a.Do(func() { err = cmd.Start() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "opened: <nil>\n" {
		t.Fatalf("the other process: got %q, %v", line, err)
	}
	return cmd, stdin
}
