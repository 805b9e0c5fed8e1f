// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

func main() {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open opens the load that o names.
func open(ctx context.Context, o worker.Open) (load.Load, error) {
	switch o.Load {
	case "grpc", "grpc-stream":
		return openGRPC(ctx, o)
	case "zeromq":
		return openZeroMQ(o)
	case "nng":
		return openNNG(o)
	case "nats":
		return openNATS(o)
	}
	return nil, fmt.Errorf("no load is called %q", o.Load)
}

// errNoZeroMQ is of a program built with the tag nozmq.
var errNoZeroMQ = errors.New("this program was built without ZeroMQ")

// errNoNNG is of a program built with the tag nonng.
var errNoNNG = errors.New("this program was built without nng")

// port is the number at which a load's end 1 listens. Loads that are measured in turn are
// on cables of their own; where they are not, as in tests, they do not meet.
func port(o worker.Open, n int) string { return net.JoinHostPort(o.Addrs[1], fmt.Sprint(7300+n)) }

// version is that of a module in this program.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "of unknown version"
}
