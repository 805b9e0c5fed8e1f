// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sock

import (
	"errors"
	"time"
)

// A Socket is one whose calls wait each for what it needs alone. There are none on this system: nothing makes one.
type Socket struct{ _ byte }

// A Set is an epoll set of one socket. There are none on this system.
type Set struct{}

// NewSet fails.
func NewSet() (Set, error) { return Set{}, errors.ErrUnsupported }

// Close does nothing.
func (s Set) Close() error { return nil }

// New fails.
func New(fd int, in Set) (*Socket, error) { return nil, errors.ErrUnsupported }

// The methods of a Socket are those of Linux. Each fails: there is none.
func (s *Socket) Control(f func(fd uintptr)) error    { return errors.ErrUnsupported }
func (s *Socket) Read(f func(fd uintptr) bool) error  { return errors.ErrUnsupported }
func (s *Socket) Write(f func(fd uintptr) bool) error { return errors.ErrUnsupported }
func (s *Socket) SetReadDeadline(t time.Time) error   { return errors.ErrUnsupported }
func (s *Socket) SetWriteDeadline(t time.Time) error  { return errors.ErrUnsupported }
func (s *Socket) CloseRead() error                    { return errors.ErrUnsupported }
func (s *Socket) Close() error                        { return errors.ErrUnsupported }
