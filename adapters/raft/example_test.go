// SPDX-License-Identifier: Apache-2.0

package tipcraft_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/hashicorp/raft"

	tipcraft "github.com/utipc/utipc/adapters/raft"
	"github.com/utipc/utipc/stack"
)

// A cluster of one server, which elects itself. More servers are more lines in
// raft.Configuration, each with the name that it listens on.
func Example() {
	ctx := context.Background()
	node, err := stack.Open(ctx, stack.Config{NoBearers: true, Address: 1}) // in a program: Bearers
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx)
	layer, err := tipcraft.Listen(ctx, node, stack.Service{Type: 18888, Instance: 1})
	if err != nil {
		log.Fatal(err)
	}
	transport := raft.NewNetworkTransport(layer, 3, 10*time.Second, io.Discard)
	defer transport.Close()

	elected := make(chan bool, 1)
	config := raft.DefaultConfig()
	config.LocalID, config.LogOutput, config.NotifyCh = "first", io.Discard, elected
	store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	servers := raft.Configuration{Servers: []raft.Server{{ID: config.LocalID, Address: layer.Address()}}}
	if err := raft.BootstrapCluster(config, store, store, snapshots, transport, servers); err != nil {
		log.Fatal(err)
	}
	r, err := raft.NewRaft(config, &raft.MockFSM{}, store, store, snapshots, transport)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Shutdown()
	<-elected
	err = r.Apply([]byte("hello"), 0).Error()
	leader, id := r.LeaderWithID()
	fmt.Println(leader, id, err)
	// Output: 18888:1 first <nil>
}
