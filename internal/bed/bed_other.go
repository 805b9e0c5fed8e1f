// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package bed

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
)

// A Bed is two network namespaces; Linux only.
type Bed struct{}

// A Namespace is a network namespace; Linux only.
type Namespace struct{}

var errNotSupported = fmt.Errorf("bed: no network namespaces on %s: %w", runtime.GOOS, errors.ErrUnsupported)

// New always fails here, with an errors.ErrUnsupported.
func New(Options) (*Bed, error) { return nil, errNotSupported }

// Name is empty here.
func (b *Bed) Name(int) string { return "" }

// Namespace is none here.
func (b *Bed) Namespace(int) *Namespace { return nil }

// Do fails here.
func (b *Bed) Do(int, func() error) error { return errNotSupported }

// Start fails here.
func (b *Bed) Start(int, *exec.Cmd) error { return errNotSupported }

// Close does nothing here.
func (b *Bed) Close() {}

// Do fails here.
func (n *Namespace) Do(func() error) error { return errNotSupported }

// Start fails here.
func (n *Namespace) Start(*exec.Cmd) error { return errNotSupported }

// Macvlan fails here.
func (n *Namespace) Macvlan(string, string) error { return errNotSupported }

// SetUp fails here.
func (n *Namespace) SetUp(string, bool) error { return errNotSupported }

// A Segment is namespaces on one network; Linux only.
type Segment struct{}

// NewSegment always fails here, with an errors.ErrUnsupported.
func NewSegment(int, int) (*Segment, error) { return nil, errNotSupported }

// Name is empty here.
func (s *Segment) Name(int) string { return "" }

// Namespace is none here.
func (s *Segment) Namespace(int) *Namespace { return nil }

// Do fails here.
func (s *Segment) Do(int, func() error) error { return errNotSupported }

// Plug fails here.
func (s *Segment) Plug(int, bool) error { return errNotSupported }

// Close does nothing here.
func (s *Segment) Close() {}

// SetAddress fails here.
func (n *Namespace) SetAddress(string, netip.Addr) error { return errNotSupported }

// SetCongestion fails here.
func (n *Namespace) SetCongestion(string, netip.Addr, string) error { return errNotSupported }
