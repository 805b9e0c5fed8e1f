// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The service: a call, a stream both ways, and one from the client whose metadata say
// the round.
const (
	serviceName = "bench.Peer"
	roundKey    = "round"
)

var (
	talk = grpc.StreamDesc{StreamName: "Talk", ServerStreams: true, ClientStreams: true, Handler: serveTalk}
	pour = grpc.StreamDesc{StreamName: "Pour", ClientStreams: true, Handler: servePour}
)

// service is served by an *inbox.
var service = grpc.ServiceDesc{
	ServiceName: serviceName,
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Ask", Handler: serveAsk}},
	Streams:     []grpc.StreamDesc{talk, pour},
}

// method is the name under which a client calls it.
func method(name string) string { return "/" + serviceName + "/" + name }

func serveAsk(in any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	b := new(bag)
	if err := decode(b); err != nil {
		return nil, err
	}
	in.(*inbox).answered()
	return b, nil
}

func serveTalk(in any, s grpc.ServerStream) error {
	for {
		b := new(bag)
		if err := s.RecvMsg(b); err != nil {
			return ended(err)
		}
		if err := s.SendMsg(b); err != nil {
			return ended(err)
		}
		in.(*inbox).answered()
	}
}

func servePour(in any, s grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(s.Context())
	round, err := strconv.ParseUint(first(md.Get(roundKey)), 10, 32)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	var b bag
	for {
		if err := s.RecvMsg(&b); err != nil {
			return ended(err)
		}
		n := b.data.Len()
		b.data.Free()
		if !in.(*inbox).add(uint32(round), n) {
			return nil // the client's next SendMsg says io.EOF
		}
	}
}

// ended is nil for a stream that its client has ended.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
