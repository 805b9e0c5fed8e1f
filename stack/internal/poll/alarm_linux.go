// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"time"

	"golang.org/x/sys/unix"
)

// An alarm ends a pollWaker's sleep when it is rung or its time has come: an eventfd and a
// timerfd, behind one descriptor. poll(2) with a limit of its own would set up a timer and
// take it down again for each sleep, which costs as much as two descriptors more. This one
// stays set over many sleeps: one that goes off too early costs a sleep too few, and that
// is rare, as deadlines are milliseconds off and messages microseconds.
type alarm struct {
	fd    int           // an epoll descriptor with the two others in it
	waker int           // the eventfd
	timer int           // the timerfd
	at    time.Duration // when the timer goes off; 0: it is not set. Of the sleeper
}

func newAlarm() (a alarm, err error) {
	a = alarm{fd: -1, waker: -1, timer: -1}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return a, err
	}
	if a.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return a, err
	}
	if a.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return a, err
	}
	for _, fd := range []int{a.waker, a.timer} {
		if err = unix.EpollCtl(a.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// set makes sure that the alarm goes off by until, and returns the limit to give poll(2),
// in ms: none.
func (a *alarm) set(now, until time.Duration) (limit int) {
	if a.at <= now || a.at > until {
		a.at = until
		d := unix.NsecToTimespec(max(int64(until-now), 1)) // 0 would unset it
		unix.TimerfdSettime(a.timer, 0, &unix.ItimerSpec{Value: d}, nil)
	}
	return -1
}

// ring makes the alarm go off now. It may be called by anybody.
func (a *alarm) ring() {
	one := [8]byte{0: 1}
	unix.Write(a.waker, one[:]) // full means that it is ringing already
}

// quiet makes an alarm that went off quiet.
func (a *alarm) quiet() {
	var buf [8]byte
	unix.Read(a.waker, buf[:])
	if n, _ := unix.Read(a.timer, buf[:]); n > 0 {
		a.at = 0
	}
}

func (a *alarm) close() {
	for _, fd := range []int{a.fd, a.waker, a.timer} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
