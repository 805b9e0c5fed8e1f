// SPDX-License-Identifier: Apache-2.0

package attach_test

import (
	"fmt"

	"github.com/utipc/utipc/attach"
)

// A program says hello, and the daemon answers.
func Example() {
	program, fd, err := attach.Pair() // else attach.Dial(ctx, "/run/utipc/utipc.sock")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()
	daemon, err := attach.NewConn(fd)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer daemon.Close()

	hello, name := attach.HelloRequest(1, attach.FeatureRing, "example")
	program.Write(&hello, name)

	var h attach.Header
	b, _ := daemon.ReadPooled(&h)
	who, _ := attach.ParseHello(&h, b.Data)
	b.Release()
	answer, data := attach.HelloReply(&h, attach.Welcome{Features: attach.FeatureRing, Node: 0x1001001, Program: "utipc"})
	daemon.Write(&answer, data)

	b, _ = program.ReadPooled(&h)
	w, err := attach.ParseWelcome(&h, b.Data)
	b.Release()
	fmt.Printf("%s, node %v of %s, ring %v, %v\n", who, w.Node, w.Program, w.Features&attach.FeatureRing != 0, err)
	// Output: example, node 1001001 of utipc, ring true, <nil>
}
