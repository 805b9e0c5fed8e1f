// SPDX-License-Identifier: Apache-2.0

// Attached is what speed.c does for two hosts, of a program that is attached to the daemon: "serve 0 INSTANCE", and "dial COUNT INSTANCE",
// which prints the µs of a round trip of 64 bytes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/utipc/utipc/stack"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	instance, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	at := stack.Service{Type: 18888, Instance: uint32(instance)}
	n, err := stack.Attach(ctx, "")
	if err != nil {
		return err
	}
	b := make([]byte, 64)
	if os.Args[1] == "serve" {
		l, err := n.Listen(ctx, "tipcpacket", at)
		if err != nil {
			return err
		}
		c, err := l.AcceptConn()
		for err == nil {
			if _, err = c.Read(b); err == nil {
				_, err = c.Write(b)
			}
		}
		return n.Close(ctx)
	}
	c, err := n.Dial(ctx, "tipcpacket", at)
	if err != nil {
		return err
	}
	var begin time.Time
	for i := -count / 10; i < count; i++ {
		if i == 0 {
			begin = time.Now()
		}
		if _, err = c.Write(b); err == nil {
			_, err = c.Read(b)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%.3f\n", float64(time.Since(begin).Nanoseconds())/1e3/float64(count))
	return n.Close(ctx)
}
