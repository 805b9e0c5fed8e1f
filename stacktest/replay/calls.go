// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// ErrCalls means a text that is no list of calls; the error says which line.
var ErrCalls = errors.New("replay: not a list of calls")

// A Call is what a user of a node did: a line of a NAME.calls file,
//
//	SECONDS NODE VERB ARGS
//
// docs/how-to/replay.md lists the verbs.
type Call struct {
	Line int
	At   time.Duration // since the capture's first frame
	Node string        // as Capture.Station takes it
	Verb string

	addr       frame.NodeAddr // address, set
	identity   frame.Identity
	number     int    // netid, set, lost, late, doubled
	iface      string // bearer, disable, mtu, cut, heal, set
	mac        frame.MAC
	mtu        int
	port       uint32
	importance frame.Importance
	returnable bool
	gram       bool // a tipcgram socket
	echo       bool // returns every message to its sender
	rng        frame.Range
	scope      frame.Scope
	service    frame.Service
	to         frame.SocketAddr // of a send without a service
	method     engine.Method
	data       []byte
	dataFrame  int           // not 0: the data is that of this frame
	dataPart   int           // not 0: of this message in it, which is a bundle, from 1
	dataOffset int           // of what a connection sent from that frame on, where
	dataLength int           // this is not 0
	what       string        // set
	delay      time.Duration // late, doubled, slow, ticks, the timeout of connect
	conn       connCall
	key        engine.Key
	group      groupCall
}

// later are verbs of things that are not built yet.
var later = []string{"cancel", "subscribe"}

// methods are the names of how a socket's multicast messages go, by engine.Method.
var methods = []string{engine.Auto: "auto", engine.Broadcast: "broadcast", engine.Replicast: "replicast"}

// verbs reads the arguments of each verb.
var verbs = map[string]func(c *Call, args []string) error{
	"address": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			if c.addr, err = frame.ParseNodeAddr(a[0]); err == nil && c.addr == 0 {
				err = errors.New("a node cannot have address 0")
			}
		}
		return err
	},
	"identity": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			c.identity, err = frame.ParseIdentity(a[0])
		}
		return err
	},
	"netid": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			c.number, err = number(a[0], 1, 9999)
		}
		return err
	},
	"bearer": func(c *Call, a []string) (err error) {
		if err = count(a, 2, 3); err != nil {
			return err
		}
		if c.iface = a[0]; len(c.iface) >= frame.IfNameLen {
			return fmt.Errorf("interface %q is longer than %d characters", c.iface, frame.IfNameLen-1)
		}
		if c.mac, err = parseMAC(a[1]); err == nil && len(a) > 2 {
			c.mtu, err = number(a[2], frame.MinMTU, 65535)
		}
		return err
	},
	"open": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 5); err != nil {
			return err
		}
		for _, o := range a[1:] {
			switch o {
			case "returnable":
				c.returnable = true
			case "tipcgram":
				c.gram = true
			case "echo":
				c.echo = true
			default:
				if !c.setImportance(o) {
					return fmt.Errorf("%q is none of low, medium, high, critical, returnable, tipcgram, echo", o)
				}
			}
		}
		return c.setPort(a[0])
	},
	"bind":   (*Call).binding,
	"unbind": (*Call).binding,
	"send": func(c *Call, a []string) (err error) {
		if err = count(a, 2, 3); err != nil {
			return err
		}
		if c.conn.is = len(a) == 2; !c.conn.is {
			if err = c.setTo(a[1]); err != nil {
				return err
			}
		}
		if err = c.setData(a[len(a)-1]); err != nil {
			return err
		}
		return c.setPort(a[0])
	},
	"listen":     (*Call).listen,
	"key":        (*Call).setKey,
	"rekey":      func(_ *Call, a []string) error { return count(a, 0, 0) },
	"accept":     (*Call).accept,
	"connect":    (*Call).connect,
	"join":       (*Call).join,
	"leave":      (*Call).ofPort,
	"group-send": (*Call).groupSend,
	"nodelay":    (*Call).noDelay,
	"read":       (*Call).read,
	"shutdown":   (*Call).ofPort,
	"mcast": func(c *Call, a []string) (err error) {
		if err = count(a, 3, 3); err != nil {
			return err
		}
		if err = c.setRange(a[1]); err != nil {
			return err
		}
		if err = c.setData(a[2]); err != nil {
			return err
		}
		return c.setPort(a[0])
	},
	"method": func(c *Call, a []string) (err error) {
		if err = count(a, 2, 2); err != nil {
			return err
		}
		i := slices.Index(methods, a[1])
		if i < 0 {
			return fmt.Errorf("%q is none of %s", a[1], strings.Join(methods, ", "))
		}
		c.method = engine.Method(i)
		return c.setPort(a[0])
	},
	"close":   (*Call).ofPort,
	"crash":   func(c *Call, a []string) error { return count(a, 0, 0) },
	"disable": (*Call).ofBearer,
	"cut":     (*Call).ofBearer,
	"heal":    (*Call).ofBearer,
	"mtu": func(c *Call, a []string) (err error) {
		if err = count(a, 2, 2); err != nil {
			return err
		}
		c.iface = a[0]
		c.number, err = number(a[1], 0, 65535)
		return err
	},
	"hidden": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			c.mac, err = parseMAC(a[0])
		}
		return err
	},
	"slow": func(c *Call, a []string) (err error) {
		if err = count(a, 2, 2); err != nil {
			return err
		}
		c.iface = a[0]
		c.delay, err = milliseconds(a[1], 10000)
		return err
	},
	"leaky": func(c *Call, a []string) error { return count(a, 0, 0) },
	"lost": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			c.number, err = number(a[0], 1, math.MaxInt32)
		}
		return err
	},
	"ticks": func(c *Call, a []string) (err error) {
		if err = count(a, 1, 1); err == nil {
			c.delay, err = milliseconds(a[0], 4)
		}
		return err
	},
	"late":    (*Call).delayed,
	"doubled": (*Call).delayed,
	"set": func(c *Call, a []string) (err error) {
		if err = count(a, 3, 4); err != nil {
			return err
		}
		if len(a) > 3 {
			c.iface = a[3]
		}
		if c.addr, err = frame.ParseNodeAddr(a[1]); err != nil {
			return err
		}
		switch c.what = a[0]; c.what {
		case "tolerance":
			c.number, err = number(a[2], 50, 30000)
		case "priority":
			c.number, err = number(a[2], 1, 31)
		case "window":
			c.number, err = number(a[2], flowctl.DefaultWindow, flowctl.MaxWindow)
		default:
			err = fmt.Errorf("%q is none of tolerance, priority, window", a[0])
		}
		return err
	},
}

func (c *Call) setImportance(s string) bool {
	i := slices.Index([]string{"low", "medium", "high", "critical"}, s)
	c.importance = frame.Importance(max(0, i))
	return i >= 0
}

func (c *Call) ofBearer(a []string) error {
	err := count(a, 1, 1)
	if err == nil {
		c.iface = a[0]
	}
	return err
}

// delayed reads the number of a frame, and how many milliseconds it, or its double,
// came later.
func (c *Call) delayed(a []string) (err error) {
	if err = count(a, 2, 2); err != nil {
		return err
	}
	if c.number, err = number(a[0], 1, math.MaxInt32); err != nil {
		return err
	}
	c.delay, err = milliseconds(a[1], 10000)
	return err
}

func milliseconds(s string, most float64) (time.Duration, error) {
	ms, err := strconv.ParseFloat(s, 64)
	if err != nil || !(ms >= 0 && ms <= most) {
		return 0, fmt.Errorf("%q is not a number of milliseconds, 0 to %v", s, most)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

func (c *Call) binding(a []string) error {
	if err := count(a, 2, 3); err != nil {
		return err
	}
	if err := c.setRange(a[1]); err != nil {
		return err
	}
	c.scope = frame.ClusterScope
	if len(a) > 2 {
		switch a[2] {
		case "cluster":
		case "node":
			c.scope = frame.NodeScope
		default:
			return fmt.Errorf("%q is none of cluster, node", a[2])
		}
	}
	return c.setPort(a[0])
}

// setRange reads TYPE:LOWER-UPPER or TYPE:INSTANCE.
func (c *Call) setRange(s string) error {
	addr, err := frame.ParseAddr(s)
	if err != nil {
		return err
	}
	switch r := addr.(type) {
	case frame.Range:
		c.rng = r
	case frame.Service:
		c.rng = r.Range()
	default:
		return fmt.Errorf("%q is not TYPE:LOWER-UPPER", s)
	}
	return nil
}

// setTo reads TYPE:INSTANCE, TYPE:INSTANCE@NODE or <NODE:PORT>.
func (c *Call) setTo(s string) error {
	to, err := frame.ParseAddr(s)
	if err != nil {
		return err
	}
	switch to := to.(type) {
	case frame.Service:
		c.service = to
	case frame.SocketAddr:
		c.to = to
	default:
		return fmt.Errorf("%s to %v: to a range it is mcast", c.Verb, to)
	}
	return nil
}

// ofPort reads what takes a port alone.
func (c *Call) ofPort(a []string) error {
	if err := count(a, 1, 1); err != nil {
		return err
	}
	return c.setPort(a[0])
}

func (c *Call) setPort(s string) (err error) {
	c.port, err = portNumber(s)
	return err
}

func portNumber(s string) (uint32, error) {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil || v == 0 {
		return 0, fmt.Errorf("%q is not a port number", s)
	}
	return uint32(v), nil
}

// setData reads text:WORD, hex:DIGITS, zero:BYTES, frame:NUMBER, frame:NUMBER/MESSAGE
// or frame:NUMBER+OFFSET:BYTES.
func (c *Call) setData(s string) (err error) {
	form, rest, ok := strings.Cut(s, ":")
	switch {
	case ok && form == "text":
		c.data = []byte(rest)
	case ok && form == "hex":
		c.data, err = hex.DecodeString(rest)
	case ok && form == "zero":
		var n int
		n, err = number(rest, 0, frame.MaxPayload)
		c.data = make([]byte, n)
	case ok && form == "frame":
		no, place, inStream := strings.Cut(rest, "+")
		if inStream {
			offset, length, _ := strings.Cut(place, ":")
			if c.dataOffset, err = number(offset, 0, math.MaxInt32); err == nil {
				c.dataLength, err = number(length, 1, frame.MaxPayload)
			}
			if err != nil {
				return err
			}
		}
		no, part, bundled := strings.Cut(no, "/")
		if c.dataFrame, err = number(no, 1, math.MaxInt32); err == nil && bundled {
			c.dataPart, err = number(part, 1, math.MaxInt16)
		}
	default:
		err = fmt.Errorf("%q is none of text:WORD, hex:DIGITS, zero:BYTES, frame:NUMBER", s)
	}
	if err == nil && len(c.data) > frame.MaxPayload {
		err = fmt.Errorf("%d bytes are more than a message may have", len(c.data))
	}
	return err
}

// ParseCalls reads a list of calls. A line that is empty or begins with # says
// nothing. Calls of one time keep their order. Errors: ErrCalls, those of r.
func ParseCalls(r io.Reader) ([]Call, error) {
	var calls []Call
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		f := strings.Fields(in.Text())
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		c, err := parseCall(f)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCalls, line, err)
		}
		c.Line = line
		calls = append(calls, c)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCalls, err)
	}
	slices.SortStableFunc(calls, byTime)
	return calls, nil
}

func byTime(a, b Call) int { return cmp.Compare(a.At, b.At) }

func parseCall(f []string) (c Call, err error) {
	if len(f) < 3 {
		return c, errors.New("want SECONDS NODE VERB ARGS")
	}
	s, err := strconv.ParseFloat(f[0], 64)
	if err != nil || !(s >= 0 && s <= 1e6) {
		return c, fmt.Errorf("%q is not a time in seconds, 0 to 1000000", f[0])
	}
	c.At, c.Node, c.Verb = time.Duration(math.Round(s*1e9)), f[1], f[2]
	if slices.Contains(later, c.Verb) {
		return c, nil // refused when it is this node's turn
	}
	args := verbs[c.Verb]
	if args == nil {
		return c, fmt.Errorf("no verb %q", c.Verb)
	}
	if err = args(&c, f[3:]); err != nil {
		return c, fmt.Errorf("%s: %w", c.Verb, err)
	}
	return c, nil
}

func count(a []string, least, most int) error {
	if len(a) < least || len(a) > most {
		return fmt.Errorf("%d arguments, want %d to %d", len(a), least, most)
	}
	return nil
}

func number(s string, least, most int) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%q is not a number from %d to %d", s, least, most)
	}
	return v, nil
}

func parseMAC(s string) (frame.MAC, error) {
	m, err := net.ParseMAC(s)
	if err != nil || len(m) != len(frame.MAC{}) {
		return frame.MAC{}, fmt.Errorf("%q is not the address of a station", s)
	}
	return frame.MAC(m), nil
}
