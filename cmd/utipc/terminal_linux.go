// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A terminal is a screen that is drawn anew again and again, and its keyboard. While it
// is open keys come one by one, and the screen is not the one that was there before.
type terminal struct {
	in, out *os.File
	saved   unix.Termios
	stop    chan struct{}
	reading sync.WaitGroup
}

// Control sequences: the other screen, the cursor, one line, the rest of the screen.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	homeCursor  = "\x1b[H"
	clearLine   = "\x1b[K\r\n"
	clearRest   = "\x1b[J"
)

// isTerminal reports whether f is one.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// openTerminal takes the terminal that in and out are; nil if they are none.
func openTerminal(in io.Reader, out io.Writer) *terminal {
	i, ok := in.(*os.File)
	o, also := out.(*os.File)
	if !ok || !also {
		return nil
	}
	saved, err := unix.IoctlGetTermios(int(i.Fd()), unix.TCGETS)
	if err != nil {
		return nil
	}
	if !isTerminal(o) {
		return nil
	}
	raw := *saved
	raw.Lflag &^= unix.ICANON | unix.ECHO // signals stay
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(int(i.Fd()), unix.TCSETS, &raw) != nil {
		return nil
	}
	t := &terminal{in: i, out: o, saved: *saved, stop: make(chan struct{})}
	io.WriteString(o, enterScreen)
	return t
}

// close gives the terminal back as it was.
func (t *terminal) close() {
	close(t.stop)
	t.reading.Wait()
	io.WriteString(t.out, leaveScreen)
	unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, &t.saved)
}

// keys are the keys that are pressed, until close.
func (t *terminal) keys() <-chan byte {
	keys := make(chan byte)
	t.reading.Go(func() {
		fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}}
		b := make([]byte, 1)
		for {
			select {
			case <-t.stop:
				return
			default:
			}
			k, err := unix.Poll(fds, 100) // as long as close may wait
			if err != nil && err != unix.EINTR || fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				return
			}
			if k <= 0 {
				continue
			}
			if n, err := unix.Read(int(fds[0].Fd), b); n != 1 || err != nil {
				return
			}
			select {
			case keys <- b[0]:
			case <-t.stop:
				return
			}
		}
	})
	return keys
}

// size is that of the screen, in characters.
func (t *terminal) size() (width, height int) {
	ws, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return 80, 24
	}
	return int(ws.Col), int(ws.Row)
}

// draw shows lines, and foot in the last line of a screen of such a height. Each is as wide as the screen at most.
func (t *terminal) draw(lines []string, foot string, height int) error {
	var b bytes.Buffer
	b.WriteString(homeCursor)
	for _, l := range lines[:min(len(lines), height-1)] {
		b.WriteString(l + clearLine)
	}
	b.WriteString(clearRest)
	if len(lines) < height-1 {
		fmt.Fprintf(&b, "\x1b[%dH", height) // the last line
	}
	b.WriteString(foot)
	_, err := t.out.Write(b.Bytes())
	return err
}
