// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/stack"
)

// What the two programs say to each other, as JSON, each a message of a connection:
//
//	perfAsk ──►      what is to be measured
//	        ◄── perfTell   the socket to do it with
//	perfAsk ──►      all was sent, and how many messages
//	        ◄── perfTell   what arrived
type (
	perfAsk struct {
		Test    string        `json:"test"` // latency, throughput, or end
		Network string        `json:"network,omitempty"`
		Size    int           `json:"size,omitempty"`
		Time    time.Duration `json:"time,omitempty"`
		Sent    uint64        `json:"sent,omitempty"` // with end
	}
	perfTell struct {
		Error    string        `json:"error,omitempty"`
		At       string        `json:"at,omitempty"`
		Messages uint64        `json:"messages,omitempty"`
		Over     time.Duration `json:"over,omitempty"` // from the first message that arrived to the last
		CPU      time.Duration `json:"cpu,omitempty"`  // of the server's process, since it told where
	}
)

// longestPerf is the longest of them, in bytes.
const longestPerf = 4096

// mostTrips are the round trips whose times are kept; beyond, the last ones count.
const mostTrips = 1 << 21

// measure does one measurement.
func (p *perf) measure(ctx context.Context, n *stack.Node, ask perfAsk) (perfRow, error) {
	r := perfRow{Test: ask.Test, Network: ask.Network, Size: ask.Size}
	control, err := stack.SocketConfig{DialTimeout: p.timeout}.Dial(ctx, n, "tipcpacket", p.to)
	if err != nil {
		return r, err
	}
	defer control.Close()
	defer context.AfterFunc(ctx, func() { control.Close() })()
	control.SetDeadline(time.Now().Add(p.timeout))
	told, err := perfCall(control, ask)
	if err != nil {
		return r, err
	}
	addr, err := stack.ParseAddr(told.At)
	at, ok := addr.(stack.SocketAddr)
	if err != nil || !ok {
		return r, fmt.Errorf("the server told of a socket %q", told.At)
	}
	c, err := p.dial(ctx, n, ask.Network, at)
	if err != nil {
		return r, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	cpu, began := cpuTime(), time.Now()
	var sent uint64
	if ask.Test == "latency" {
		err = p.trips(c, ask, &r)
	} else {
		sent, err = p.flood(c, ask)
	}
	if err != nil {
		return r, err
	}
	r.Seconds = time.Since(began).Seconds()
	r.CPU = 100 * (cpuTime() - cpu).Seconds() / r.Seconds
	control.SetDeadline(time.Now().Add(p.timeout))
	if told, err = perfCall(control, perfAsk{Test: "end", Sent: sent}); err != nil {
		return r, err
	}
	r.ServerCPU = 100 * told.CPU.Seconds() / r.Seconds
	if ask.Test == "throughput" {
		over := max(told.Over.Seconds(), r.Seconds) // the sender's time, unless it took longer to arrive
		r.Rate, r.Lost = float64(told.Messages)/over, sent-min(sent, told.Messages)
		r.Bytes = r.Rate * float64(ask.Size)
	}
	return r, nil
}

// A perfConn is what is measured over.
type perfConn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

func (p *perf) dial(ctx context.Context, n *stack.Node, network string, at stack.SocketAddr) (perfConn, error) {
	if (socketKind{network: network}).connected() {
		return stack.SocketConfig{DialTimeout: p.timeout, NoDelay: true}.Dial(ctx, n, network, at)
	}
	return n.DialPacket(ctx, network, at)
}

// perfCall asks and reads the answer.
func perfCall(c *stack.Conn, ask perfAsk) (told perfTell, err error) {
	b, err := json.Marshal(ask)
	if err != nil {
		return told, err
	}
	_, broken := c.Write(b) // a server that is busy says so and closes: there may be an answer all the same
	b = make([]byte, longestPerf)
	k, err := c.Read(b)
	switch {
	case err == nil:
	case broken != nil:
		return told, broken
	case err == io.EOF:
		return told, errors.New("the server has closed the connection")
	default:
		return told, err
	}
	if err := json.Unmarshal(b[:k], &told); err != nil {
		return told, fmt.Errorf("the server is no utipc perf: %w", err)
	}
	if told.Error != "" {
		return told, fmt.Errorf("the server: %s", printable.Prefix(told.Error, longestText))
	}
	return told, nil
}

// trips measures round trips.
func (p *perf) trips(c perfConn, ask perfAsk, r *perfRow) error {
	times := make([]time.Duration, 0, 1<<16)
	b := make([]byte, ask.Size)
	began := time.Now()
	at := began
	for at.Sub(began) < ask.Time {
		if r.Trips%1024 == 0 {
			c.SetDeadline(at.Add(p.timeout))
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		if _, err := readPerf(c, ask.Network, b); err != nil {
			return err
		}
		now := time.Now()
		if len(times) < mostTrips {
			times = append(times, now.Sub(at))
		} else {
			times[r.Trips%mostTrips] = now.Sub(at)
		}
		r.Trips++
		at = now
	}
	r.Rate = float64(r.Trips) / at.Sub(began).Seconds()
	r.Bytes = r.Rate * float64(ask.Size)
	slices.Sort(times)
	share := func(q float64) float64 { return float64(quantile.Of(times, q)) / float64(time.Microsecond) }
	r.P50, r.P90, r.P99, r.P999, r.Max = share(0.5), share(0.9), share(0.99), share(0.999), share(1)
	return nil
}

// readPerf reads a message of len(b) bytes: of a stream as many as that.
func readPerf(c io.Reader, network string, b []byte) (int, error) {
	if network == "tipc" {
		return io.ReadFull(c, b)
	}
	return c.Read(b)
}

// flood sends as fast as it may.
func (p *perf) flood(c perfConn, ask perfAsk) (sent uint64, err error) {
	b := make([]byte, ask.Size)
	began := time.Now()
	for {
		if sent%64 == 0 {
			now := time.Now()
			if now.Sub(began) >= ask.Time {
				return sent, nil
			}
			c.SetDeadline(now.Add(p.timeout))
		}
		if _, err := c.Write(b); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return sent, fmt.Errorf("after %d messages: %w", sent, err)
			}
			return sent, err
		}
		sent++
	}
}

// cpuTime is what this process has had of processors so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
