// SPDX-License-Identifier: Apache-2.0

// Blockdev has a block device that is wherever its name is: a server of the Network Block Device
// protocol whose disk lives on another node, and moves to a third while a client writes.
//
//	NBD client ──TCP──► server on node 1 ──► 18930:1, the disk: on node 2, later on node 3
//
// The client notices nothing. Every write that was answered is on the disk after the move, and still
// is when the node that had the disk ends. With -serve it goes on for clients of others:
//
//	go run ./examples/blockdev -serve 127.0.0.1:10809 &
//	nbdcopy nbd://127.0.0.1 - | wc -c
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

const (
	diskSize  = 4 << 20 // bytes
	blockSize = 4096
	moveAfter = 300 // blocks
)

var serveOn = flag.String("serve", "", "`address` to serve NBD clients on until interrupted, the disk moving with each that leaves")

func main() {
	cluster.Main(3, func(ctx context.Context, nodes []*stack.Node) error {
		if *serveOn != "" {
			return serveOthers(ctx, nodes)
		}
		return blockdev(ctx, nodes)
	})
}

// blockdev writes the whole disk, moves it meanwhile, and ends the node that had it.
func blockdev(ctx context.Context, nodes []*stack.Node) error {
	first, err := newHost(ctx, nodes[1], 1, make([]byte, diskSize))
	if err != nil {
		return err
	}
	second, err := newHost(ctx, nodes[2], 2, nil)
	if err != nil {
		first.close()
		return err
	}
	defer second.close()
	r, err := newRemote(ctx, nodes[0])
	if err != nil {
		first.close()
		return err
	}
	defer r.close()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- serveNBD(there, r) }()
	moved := make(chan error, 1)
	err = useNBD(here, func(c *client) error {
		for i := range c.size / blockSize {
			if i == moveAfter {
				go func() { moved <- first.move(ctx, 2) }()
			}
			if err := c.write(block(i), i*blockSize); err != nil {
				return err
			}
		}
		if err := <-moved; err != nil {
			return err
		}
		first.close()
		if err := nodes[1].Close(ctx); err != nil {
			return err
		}
		b := make([]byte, blockSize)
		for i := range c.size / blockSize {
			if err := c.read(b, i*blockSize); err != nil {
				return err
			}
			if !bytes.Equal(b, block(i)) {
				return fmt.Errorf("blockdev: block %d was answered and is lost", i)
			}
		}
		fmt.Printf("%d blocks written and read back, the disk was on %d nodes\n", c.size/blockSize, len(r.met))
		return nil
	})
	here.Close()
	if end := <-served; err == nil {
		err = end
	}
	return err
}

// block is what is written to block i.
func block(i int64) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%16d", i)), blockSize/16)
}

// serveOthers serves one client after the other, and moves the disk behind each.
func serveOthers(ctx context.Context, nodes []*stack.Node) error {
	var hosts [2]*host
	for i := range hosts {
		var disk []byte
		if i == 0 {
			disk = make([]byte, diskSize)
		}
		h, err := newHost(ctx, nodes[i+1], uint32(i+1), disk)
		if err != nil {
			return err
		}
		defer h.close()
		hosts[i] = h
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *serveOn)
	if err != nil {
		return err
	}
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	r, err := newRemote(ctx, nodes[0])
	if err != nil {
		return err
	}
	defer r.close()
	for at := 0; ; at = 1 - at {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		err = serveNBD(c, r)
		c.Close()
		if err != nil {
			fmt.Println(err)
		}
		if err := hosts[at].move(ctx, uint32(2-at)); err != nil {
			return err
		}
	}
}
