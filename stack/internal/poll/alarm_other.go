// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package poll

import (
	"time"

	"golang.org/x/sys/unix"
)

// An alarm ends a pollWaker's sleep when it is rung: a pipe. poll(2) itself has an eye on
// the time.
type alarm struct {
	fd    int // the end that is polled
	write int
}

func newAlarm() (alarm, error) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return alarm{}, err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		unix.SetNonblock(fd, true)
	}
	return alarm{p[0], p[1]}, nil
}

// set returns the limit to give poll(2), in ms, so that a sleep ends at until, or soon
// after: waking before would only mean waking again.
func (a *alarm) set(now, until time.Duration) (limit int) {
	ms := min((until-now+time.Millisecond-1)/time.Millisecond, time.Hour/time.Millisecond)
	return int(max(ms, 0))
}

// ring makes the alarm go off now. It may be called by anybody.
func (a *alarm) ring() {
	one := [1]byte{1}
	unix.Write(a.write, one[:]) // full means that it is ringing already
}

// quiet makes an alarm that went off quiet.
func (a *alarm) quiet() {
	var buf [64]byte
	unix.Read(a.fd, buf[:])
}

func (a *alarm) close() {
	unix.Close(a.fd)
	unix.Close(a.write)
}
