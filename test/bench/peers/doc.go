// SPDX-License-Identifier: Apache-2.0

// Peers is a worker, as those of utipc-lab bench, whose loads are other systems: what a user
// would choose in place of this stack. It is a module of its own, so that nobody who uses
// the stack gets them with it, and is built when they are to be measured.
//
//	Open.Load     round trips                   one way                 over Open.Socket
//	grpc          unary calls                   a client's stream       tcp, tipc
//	grpc-stream   both ways over one stream     a client's stream       tcp, tipc
//	zeromq        REQ and REP                   PUSH and PULL           tcp, ipc
//	nng           REQ and REP                   PUSH and PULL           tcp, ipc
//	nats          a request and its reply       published, subscribed   tcp
//
// Each is set as its own documents advise for what is measured, and says how in
// load.Info. Where both ends are on one host, over ipc, Open.Path is common to them.
//
// Built with the tag nozmq it is without ZeroMQ, with nonng without nng: with both it needs neither
// their libraries nor cgo.
package main
