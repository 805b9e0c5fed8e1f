// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/printable"
)

const (
	// Magic is argument 0 of OpHello and its answer: "UTPC" on a little-endian machine.
	Magic = 0x43505455
	// Version is the version of the protocol spoken here.
	Version = 1
	// MaxName is how long the program's name, and the daemon's, may be in it, in bytes.
	MaxName = 64
)

// Features of a daemon that a program may use; in OpHello those that it knows of, in the
// answer those that it may use here.
const (
	FeatureRing      = 1 << 0 // OpRing
	FeatureReports   = 1 << 1 // OpFailed has the beginning of the message
	FeatureRequests  = 1 << 2 // OptRequests
	FeatureCounts    = 1 << 3 // OpShutdown breaks off; OpEnd and OpFailed of a connection say how many bytes have gone
	FeatureHalfClose = 1 << 4 // OpReadEnd; without it a peer that writes no more is one that has closed
	FeatureComplete  = 1 << 5 // FlagComplete
	FeatureExclusive = 1 << 6 // OptExclusive
	FeatureAnycast   = 1 << 7 // the answer to OpSend to a service has the socket it went to; OptManualAck, OptPreferIdle
)

// ErrVersion means a daemon, or a program, of another version of the protocol: a
// *VersionError says of which.
var ErrVersion = errors.New("attach: another version of the protocol")

// A VersionError means that a program and a daemon do not speak the same version of the
// socket protocol. It is ErrVersion.
type VersionError struct {
	Program, Daemon uint32 // versions; 0: it did not say
}

func (e *VersionError) Error() string {
	const older = "; update the program: build it with the daemon's version of utipc, or a newer one"
	const newer = "; update utipc on this host and restart its daemon, or build the program with the daemon's version"
	program, daemon := versionText(e.Program), versionText(e.Daemon)
	s := fmt.Sprintf("the program speaks %s of the socket protocol, the daemon %s", program, daemon)
	switch {
	case e.Daemon == 0 || e.Program == 0:
		return s + "; use the same release of utipc for both"
	case e.Program < e.Daemon:
		return s + older
	}
	return s + newer
}

// Is makes it ErrVersion.
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

func versionText(v uint32) string {
	if v == 0 {
		return "another version"
	}
	return fmt.Sprintf("version %d", v)
}

// A Welcome is what the daemon's answer to OpHello says.
type Welcome struct {
	Version  uint32
	Features uint64
	Node     frame.NodeAddr
	Identity frame.Identity
	Program  string // and its version
}

// HelloRequest returns the OpHello of a program, and its data.
func HelloRequest(id uint32, features uint64, program string) (Header, []byte) {
	return Header{Op: OpHello, ID: id, Arg0: Magic, Arg1: Version, Wide: features}, []byte(cutName(program))
}

// ParseHello checks a record as the OpHello of a program, and returns the name it gives
// itself, escaped where it would not print. Errors: ErrRecord, *VersionError.
func ParseHello(h *Header, data []byte) (program string, err error) {
	switch {
	case h.Op != OpHello || h.IsReply() || h.Arg0 != Magic || len(data) > MaxName:
		return "", ErrRecord
	case h.Arg1 != Version:
		return "", &VersionError{Program: h.Arg1, Daemon: Version}
	}
	return printable.Text(data), nil
}

// VersionReply returns the answer to the OpHello h of a program of another version, and its
// data: an errno that says so, the version spoken here, and a text. A program of any version
// finds the number where HelloReply has it.
func VersionReply(h *Header) (Header, []byte) {
	r := h.Reply(syscall.EPROTONOSUPPORT)
	r.Arg0, r.Arg1 = Magic, Version
	return r, []byte((&VersionError{Program: h.Arg1, Daemon: Version}).Error())
}

// HelloReply returns the answer to the OpHello h, and its data. Of the features that h
// asks for it grants those in w.
func HelloReply(h *Header, w Welcome) (Header, []byte) {
	r := h.Reply(0)
	r.Arg0, r.Arg1, r.Wide = Magic, Version, h.Wide&w.Features
	r.Addr = SocketSockaddr(frame.SocketAddr{Node: w.Node})
	return r, append(w.Identity[:], cutName(w.Program)...)
}

// ParseWelcome reads the answer to an OpHello. Errors: ErrRecord, *VersionError, and the
// errno in it as syscall.Errno.
func ParseWelcome(h *Header, data []byte) (w Welcome, err error) {
	switch {
	case h.Op != OpHello || !h.IsReply():
		return w, ErrRecord
	case h.Errno == syscall.EPROTONOSUPPORT:
		e := &VersionError{Program: Version}
		if h.Arg0 == Magic { // daemons before VersionReply did not say
			e.Daemon = h.Arg1
		}
		return w, e
	case h.Errno != 0:
		return w, h.Errno
	case h.Arg0 != Magic || len(data) < len(w.Identity) || len(data) > len(w.Identity)+MaxName:
		return w, ErrRecord
	case h.Arg1 != Version:
		return w, &VersionError{Program: Version, Daemon: h.Arg1}
	}
	own, ok := h.Addr.Socket()
	if !ok {
		return w, ErrRecord
	}
	w = Welcome{Version: h.Arg1, Features: h.Wide, Node: own.Node}
	w.Program = printable.Text(data[copy(w.Identity[:], data):])
	return w, nil
}

func cutName(s string) string { return s[:min(len(s), MaxName)] }
