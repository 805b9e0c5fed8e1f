// SPDX-License-Identifier: Apache-2.0

// Kv is a replica of a store of keys and values: "kv 1" is the first, "kv NUMBER" joins. Clients ask the leader by its name,
// wherever it is: see ask. The log is in memory, so that a replica that has ended comes back with another number.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/raft"

	tipcraft "github.com/utipc/utipc/adapters/raft"
	"github.com/utipc/utipc/stack"
)

var leader = stack.Service{Type: 18889, Instance: 1} // the leader has this name

// A store is what is replicated. Raft calls its methods one at a time.
type store map[string]string

// Apply does "put KEY VALUE" or "get KEY" once a majority has it, in the same order everywhere.
func (s store) Apply(l *raft.Log) any {
	words := strings.SplitN(string(l.Data), " ", 3)
	if len(words) == 3 {
		s[words[1]] = words[2]
	}
	return s[words[1]]
}

// Snapshot and Restore are for logs that are cut: this one keeps all, and a replica that joins is sent it.
func (store) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("the log has everything") }
func (store) Restore(io.ReadCloser) error         { return errors.New("there are no snapshots") }

func main() {
	ctx := context.Background()
	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE
	if err == nil {
		number, _ := strconv.Atoi(os.Args[len(os.Args)-1])
		err = replica(ctx, node, uint32(number))
	}
	log.Fatal(err)
}

// replica is a replica until ctx is done.
func replica(ctx context.Context, node *stack.Node, number uint32) error {
	layer, err := tipcraft.Listen(ctx, node, stack.Service{Type: 18888, Instance: number})
	if err != nil {
		return err
	}
	transport := raft.NewNetworkTransport(layer, 3, 0, io.Discard)
	defer transport.CloseStreams()
	defer transport.Close()
	config, logs := raft.DefaultConfig(), raft.NewInmemStore()
	config.LocalID, config.LogOutput = raft.ServerID(layer.Address()), io.Discard
	r, err := raft.NewRaft(config, store{}, logs, logs, raft.NewDiscardSnapshotStore(), transport)
	pc, err2 := node.ListenPacket(ctx, "tipcrdm", nil)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	defer func() { r.Shutdown().Error() }()
	defer context.AfterFunc(ctx, func() { pc.Close() })()
	go serve(pc, r)
	if number == 1 {
		alone := []raft.Server{{ID: config.LocalID, Address: layer.Address()}}
		err = r.BootstrapCluster(raft.Configuration{Servers: alone}).Error()
	} else {
		_, err = ask(ctx, node, "join "+string(layer.Address()))
	}
	for err == nil {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case leads := <-r.LeaderCh(): // its lease ends before another is elected
			if pc.Unbind(leader); leads {
				err = pc.Bind(leader)
			}
		}
	}
	return errors.Join(err, pc.Close())
}

// serve answers clients, and replicas that join.
func serve(pc *stack.PacketConn, r *raft.Raft) {
	for b := make([]byte, 66000); ; {
		n, from, err := pc.ReadFrom(b)
		if err != nil {
			return
		}
		go func(request string) { pc.WriteTo([]byte(do(r, request)), from) }(string(b[:n]))
	}
}

// do does a request if this replica leads.
func do(r *raft.Raft, request string) string {
	var err error
	if address, joins := strings.CutPrefix(request, "join "); joins {
		err = r.AddVoter(raft.ServerID(address), raft.ServerAddress(address), 0, 0).Error()
	}
	f := r.Apply([]byte(request), 0) // a new replica has all that was before
	if err := errors.Join(err, f.Error()); err != nil {
		return err.Error()
	}
	return "done: " + f.Response().(string)
}

// ask has the leader do a request, the next leader when one ends meanwhile.
func ask(ctx context.Context, node *stack.Node, request string) (string, error) {
	b := make([]byte, 66000)
	for node.WaitFor(ctx, leader) == nil {
		n, _, err := node.Call(ctx, leader, []byte(request), b)
		if answer, done := strings.CutPrefix(string(b[:n]), "done: "); err == nil && done {
			return answer, nil
		}
	}
	return "", ctx.Err()
}
