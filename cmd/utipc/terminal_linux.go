// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
	reversed    = "\x1b[7m"
	plainText   = "\x1b[0m"
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

// draw shows lines, cut to the screen's size, and foot in its last line. Lines that
// begin with a capital letter are heads of tables.
func (t *terminal) draw(lines []string, foot string, width, height int) error {
	var b bytes.Buffer
	b.WriteString(homeCursor)
	for i, l := range lines {
		if i >= height-1 {
			break
		}
		if l != "" && l[0] >= 'A' && l[0] <= 'Z' {
			b.WriteString(reversed + cut(l, width) + plainText + clearLine)
		} else {
			b.WriteString(cut(l, width) + clearLine)
		}
	}
	b.WriteString(clearRest)
	b.WriteString(cut(foot, width))
	_, err := t.out.Write(b.Bytes())
	return err
}

// cut is s in at most width characters.
func cut(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width])
	}
	return s
}
