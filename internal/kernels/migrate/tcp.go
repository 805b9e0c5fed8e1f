// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/utipc/utipc/internal/ranks"
)

// Tags of requests; answers have the same, or moved.
const (
	tagAsk    = iota + 1 // an object's number, and a message's: the object
	tagState             // an object that comes to stay: nothing
	tagWhere             // an object's number, to the directory: its host's rank
	tagIs                // an object's number and its host's rank: nothing
	tagFinish            // no more comes: nothing
	tagMoved             // in place of an answer: the object is not here
)

// A line is a connection on which requests are made, one at a time.
type line struct {
	conn  net.Conn
	pair  *ranks.Pair
	reply [objectLen]byte
}

func dialLine(ctx context.Context, p ranks.Place, use, rank int) (*line, error) {
	c, err := p.Dial(ctx, use, rank)
	if err != nil {
		return nil, err
	}
	pair, err := ranks.NewPair(c)
	if err != nil {
		c.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return &line{conn: c, pair: pair}, nil
}

// request sends b and returns what is answered, good until the next request. Errors:
// errMoved, and the connection's.
func (l *line) request(tag uint32, b []byte) ([]byte, error) {
	if err := l.pair.Send(tag, b); err != nil {
		return nil, err
	}
	got, n, err := l.pair.Next(l.reply[:])
	switch {
	case err != nil:
		return nil, err
	case got == tagMoved:
		return nil, errMoved
	case got != tag:
		return nil, ranks.ErrBroken
	}
	return l.reply[:n], nil
}

var errMoved = errors.New("migrate: the object has moved")

// A server answers requests on all connections to it.
type server struct {
	ln     net.Listener
	tasks  sync.WaitGroup
	mu     sync.Mutex // guards conns
	conns  []net.Conn
	answer func(pair *ranks.Pair, tag uint32, b []byte) error
}

func listen(ctx context.Context, p ranks.Place, use int, answer func(*ranks.Pair, uint32, []byte) error) (*server, error) {
	ln, err := p.Listen(ctx, use)
	if err != nil {
		return nil, err
	}
	s := &server{ln: ln, answer: answer}
	s.tasks.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.tasks.Go(func() { s.serve(c) })
		}
	})
	return s, nil
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	pair, err := ranks.NewPair(c)
	if err != nil {
		return
	}
	b := make([]byte, objectLen)
	for {
		tag, n, err := pair.Next(b)
		if err != nil || s.answer(pair, tag, b[:n]) != nil {
			return
		}
	}
}

func (s *server) close() {
	s.ln.Close()
	s.mu.Lock()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// A tcpHost has objects, and with the last of them the directory.
type tcpHost struct {
	ctx       context.Context
	place     ranks.Place
	server    *server
	directory *server // nil: another has it
	toDir     *line
	finished  chan struct{}
	failed    chan error

	moving sync.Mutex // held while lines are used: a request at a time
	mu     sync.Mutex // guards what follows
	here   map[uint32]*object
	hosts  map[int]*line     // to other hosts
	where  map[uint32]uint32 // the directory: ranks of objects' hosts
}

func newTCPHost(ctx context.Context, p ranks.Place, objects int) (*tcpHost, error) {
	h := &tcpHost{
		ctx: ctx, place: p, here: map[uint32]*object{}, hosts: map[int]*line{}, where: map[uint32]uint32{},
		finished: make(chan struct{}), failed: make(chan error, 1),
	}
	for _, o := range atFirst(p, objects) {
		h.here[o.ID] = o
	}
	var err error
	if p.Rank == p.Ranks-1 {
		for id := range uint32(objects) {
			h.where[id] = uint32(hostOf(id, 0, p.Ranks))
		}
		if h.directory, err = listen(ctx, p, ranks.Directory, h.direct); err != nil {
			return nil, err
		}
	}
	if h.server, err = listen(ctx, p, ranks.Requests, h.answer); err == nil {
		h.toDir, err = dialLine(ctx, p, ranks.Directory, p.Ranks-1)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *tcpHost) close() {
	for _, l := range h.hosts {
		l.conn.Close()
	}
	if h.toDir != nil {
		h.toDir.conn.Close()
	}
	for _, s := range []*server{h.server, h.directory} {
		if s != nil {
			s.close()
		}
	}
}

func (h *tcpHost) serve() error {
	select {
	case <-h.finished:
		return nil
	case err := <-h.failed:
		return err
	case <-h.ctx.Done():
		return context.Cause(h.ctx)
	}
}

// direct is the directory's answer.
func (h *tcpHost) direct(pair *ranks.Pair, tag uint32, b []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case tag == tagWhere && len(b) == 4:
		return pair.Send(tag, binary.BigEndian.AppendUint32(nil, h.where[binary.BigEndian.Uint32(b)]))
	case tag == tagIs && len(b) == 8:
		h.where[binary.BigEndian.Uint32(b)] = binary.BigEndian.Uint32(b[4:])
		return pair.Send(tag, nil)
	}
	return ranks.ErrBroken
}

// answer is the host's. An object that leaves does so before the next request on the
// connection that had it leave is read.
func (h *tcpHost) answer(pair *ranks.Pair, tag uint32, b []byte) error {
	switch {
	case tag == tagAsk && len(b) == askLen-1:
		leaves, err := h.asked(pair, binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:]))
		if err != nil || leaves == nil {
			return err
		}
		if err := h.move(*leaves); err != nil {
			h.fail(err)
			return err
		}
		return nil
	case tag == tagState && len(b) == objectLen:
		o := readObject(b)
		h.mu.Lock()
		h.here[o.ID] = &o
		h.mu.Unlock()
		return pair.Send(tag, nil)
	case tag == tagFinish:
		if err := pair.Send(tag, nil); err != nil {
			return err
		}
		close(h.finished)
		return nil
	}
	return ranks.ErrBroken
}

// fail ends serve with an error; the first counts.
func (h *tcpHost) fail(err error) {
	select {
	case h.failed <- err:
	default:
	}
}

// asked has an object take a number. One that leaves comes back, and is here no more.
func (h *tcpHost) asked(pair *ranks.Pair, id uint32, number uint64) (leaves *object, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.here[id]
	if o == nil {
		return nil, pair.Send(tagMoved, nil)
	}
	o.take(number)
	if err := pair.Send(tagAsk, o.append(nil)); err != nil || !o.leaves() {
		return nil, err
	}
	delete(h.here, id)
	return o, nil
}

// move brings an object to its next host, and tells the directory. The lock is not held: the
// next host may be bringing one here.
func (h *tcpHost) move(o object) error {
	o.Hops++
	to := hostOf(o.ID, o.Hops, h.place.Ranks)
	next, err := h.lineTo(to)
	if err != nil {
		return err
	}
	h.moving.Lock()
	defer h.moving.Unlock()
	if _, err := next.request(tagState, o.append(nil)); err != nil {
		return err
	}
	is := binary.BigEndian.AppendUint32(nil, o.ID)
	_, err = h.toDir.request(tagIs, binary.BigEndian.AppendUint32(is, uint32(to)))
	return err
}

// lineTo is the connection to another host, made when it is first wanted.
func (h *tcpHost) lineTo(host int) (*line, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.hosts[host]; l != nil {
		return l, nil
	}
	l, err := dialLine(h.ctx, h.place, ranks.Requests, host)
	if err == nil {
		h.hosts[host] = l
	}
	return l, err
}

// A tcpAsker knows where objects were when it asked last.
type tcpAsker struct {
	directory *line
	hosts     map[int]*line
	where     map[uint32]int
	out       []byte
}

func newTCPAsker(ctx context.Context, p ranks.Place) (*tcpAsker, error) {
	a := &tcpAsker{hosts: map[int]*line{}, where: map[uint32]int{}}
	var err error
	if a.directory, err = dialLine(ctx, p, ranks.Directory, p.Ranks-1); err != nil {
		return nil, err
	}
	for rank := 1; rank < p.Ranks; rank++ {
		if a.hosts[rank], err = dialLine(ctx, p, ranks.Requests, rank); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// ask asks the host that the object was at last, or the directory for it.
func (a *tcpAsker) ask(id uint32, number uint64) (o object, repeats int, err error) {
	for ; ; repeats++ {
		host, known := a.where[id]
		if !known {
			if host, err = a.find(id); err != nil {
				return o, repeats, err
			}
		}
		a.out = binary.BigEndian.AppendUint32(a.out[:0], id)
		a.out = binary.BigEndian.AppendUint64(a.out, number)
		b, err := a.hosts[host].request(tagAsk, a.out)
		switch {
		case err == nil && len(b) == objectLen:
			return readObject(b), repeats, nil
		case !errors.Is(err, errMoved):
			return o, repeats, errors.Join(err, ranks.ErrBroken)
		}
		delete(a.where, id)
	}
}

func (a *tcpAsker) find(id uint32) (host int, err error) {
	a.out = binary.BigEndian.AppendUint32(a.out[:0], id)
	b, err := a.directory.request(tagWhere, a.out)
	if err != nil {
		return 0, err
	}
	if len(b) != 4 || a.hosts[int(binary.BigEndian.Uint32(b))] == nil {
		return 0, fmt.Errorf("%w: object %d is nowhere", ranks.ErrBroken, id)
	}
	a.where[id] = int(binary.BigEndian.Uint32(b))
	return a.where[id], nil
}

func (a *tcpAsker) end() error {
	for _, l := range a.hosts {
		if _, err := l.request(tagFinish, nil); err != nil {
			return err
		}
	}
	for _, l := range a.hosts {
		l.conn.Close()
	}
	return a.directory.conn.Close()
}
