// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const usage = `peer MODE [words] [options]
  own                                  print a fresh socket's address
  rdm-echo TYPE INST                   send each message back to its sender
  rdm-sink TYPE INST                   receive only
  rdm-send TYPE INST | @NODE:PORT      send and wait for the echo
  publish TYPE LO HI node|cluster      hold one binding until stdin ends
  subscribe TYPE LO HI                 print topology events
  mcast-send TYPE LO HI
  mcast-recv TYPE INST
  listen-stream, listen-seqpacket TYPE INST
  dial-stream, dial-seqpacket TYPE INST | @NODE:PORT
  flow-sink TYPE INST                  receive a stream (package flow); a line of stdin asks for a mark
  flow-send TYPE INST | @NODE:PORT     send one until stdin ends
  group TYPE INST                      join a group, send and read as lines of stdin say
  hold                                 bind and unbind as lines of stdin say
  topology                             subscribe as lines of stdin say, at the node of -N
  cast-receive PLAN RECEIVER...        hear multicast (package cast); a line of stdin asks for reports
  cast-send PLAN SENDER                send it once a line of stdin comes; a further one asks how far it is
  play                                 carry out a script's part (package play) that lines of stdin say
  relay TYPE INST                      join stream connections in pairs; with -1 seqpacket
options
`

// options are what the modes have in common; each uses those that concern it.
type options struct {
	count, size, wait, rcvbuf, importance int
	node                                  string
	scope                                 string
	oneway, returnable, quiet             bool
	broadcast, replicast                  bool
	swap                                  bool
	seed, longest, parity                 int
	pace, timeout                         time.Duration
}

// peer runs one mode and returns its exit status.
func peer(args []string) int {
	var o options
	f := flag.NewFlagSet("peer", flag.ContinueOnError)
	f.IntVar(&o.count, "n", -1, "messages, events or connections; 0 is for ever (default 1 to send, 0 to receive)")
	f.IntVar(&o.size, "s", 64, "payload `bytes`")
	f.IntVar(&o.wait, "w", 60_000, "`milliseconds` to wait for an echo, or with -1 for rejects after the last message")
	f.IntVar(&o.rcvbuf, "R", 0, "receive buffer limit, `bytes`")
	f.IntVar(&o.importance, "i", -1, "importance, 0 to 3")
	f.StringVar(&o.node, "N", "0", "lookup `node`, hexadecimal")
	f.StringVar(&o.scope, "S", "cluster", "`scope` of the binding: node or cluster")
	f.BoolVar(&o.oneway, "1", false, "one way, no echo is wanted")
	f.BoolVar(&o.returnable, "D", false, "set TIPC_DEST_DROPPABLE=0: rejects come back")
	f.BoolVar(&o.quiet, "q", false, "no line for each message")
	f.BoolVar(&o.broadcast, "b", false, "TIPC_MCAST_BROADCAST")
	f.BoolVar(&o.replicast, "r", false, "TIPC_MCAST_REPLICAST")
	f.BoolVar(&o.swap, "swap", false, "subscribe in the byte order that is not the machine's")
	f.IntVar(&o.seed, "seed", 1, "seed of a stream's sizes")
	f.IntVar(&o.longest, "longest", 66000, "longest message of a stream, `bytes`")
	f.DurationVar(&o.pace, "pace", 0, "of a stream, time between messages")
	f.DurationVar(&o.timeout, "timeout", 0, "of a stream, time until what is under way is taken for lost; 0 is a minute")
	f.IntVar(&o.parity, "parity", -1, "parity of the sending port's number, 0 or 1")
	f.Usage = func() {
		io.WriteString(f.Output(), usage)
		f.PrintDefaults()
	}
	var words []string
	for rest := args; ; { // options may stand between the words
		if err := f.Parse(rest); err != nil {
			return 2
		}
		if f.NArg() == 0 {
			break
		}
		words = append(words, f.Arg(0))
		rest = f.Args()[1:]
	}
	if len(words) == 0 {
		f.Usage()
		return 2
	}
	modes := map[string]func(options, []string) error{
		"own":              own,
		"rdm-echo":         func(o options, w []string) error { return rdmServe(o, w, true) },
		"rdm-sink":         func(o options, w []string) error { return rdmServe(o, w, false) },
		"rdm-send":         rdmSend,
		"publish":          publish,
		"subscribe":        subscribe,
		"mcast-send":       mcastSend,
		"mcast-recv":       func(o options, w []string) error { return rdmServe(o, w, false) },
		"listen-stream":    func(o options, w []string) error { return listen(o, w, unix.SOCK_STREAM) },
		"listen-seqpacket": func(o options, w []string) error { return listen(o, w, unix.SOCK_SEQPACKET) },
		"dial-stream":      func(o options, w []string) error { return dial(o, w, unix.SOCK_STREAM) },
		"dial-seqpacket":   func(o options, w []string) error { return dial(o, w, unix.SOCK_SEQPACKET) },
		"flow-sink":        flowSink,
		"flow-send":        flowSend,
		"hold":             hold,
		"topology":         topology,
		"cast-receive":     castReceive,
		"cast-send":        castSend,
		"play":             playScript,
		"relay":            relay,
	}
	mode := modes[words[0]]
	if mode == nil {
		f.Usage()
		return 2
	}
	if err := mode(o, words[1:]); err != nil {
		say("fail %s", failure(err))
		return 1
	}
	return 0
}

// times returns -n, or what it is when not given.
func (o options) times(unset int) int {
	if o.count < 0 {
		return unset
	}
	return o.count
}

// failure writes an error as keys and values.
func failure(err error) string {
	if e, ok := err.(*os.SyscallError); ok {
		if n, ok := e.Err.(unix.Errno); ok {
			return fmt.Sprintf("call=%s errno=%s text=%q", e.Syscall, unix.ErrnoName(n), n.Error())
		}
	}
	return fmt.Sprintf("text=%q", err.Error())
}

var sayMu sync.Mutex // keeps lines whole

// say prints one event, at once.
func say(format string, args ...any) {
	sayMu.Lock()
	defer sayMu.Unlock()
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

// numbers parses words as unsigned numbers, in any of Go's bases.
func numbers(words []string, want int) ([]uint32, error) {
	if len(words) != want {
		return nil, fmt.Errorf("got %d words, want %d", len(words), want)
	}
	out := make([]uint32, want)
	for i, w := range words {
		n, err := strconv.ParseUint(w, 0, 32)
		if err != nil {
			return nil, err
		}
		out[i] = uint32(n)
	}
	return out, nil
}
