// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package station

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/utipc/utipc/test/bench/load"
)

// A Site is where stations are opened; Linux only.
type Site struct{ Options }

// A Station is a Variant that is open; Linux only.
type Station struct{ Infos [2]load.Info }

var errNotSupported = fmt.Errorf("station: no network namespaces on %s: %w", runtime.GOOS, errors.ErrUnsupported)

// ErrIncredible is of a round that is no measurement.
var ErrIncredible = errors.New("no measurement")

// A Usage is CPU time up to now; it is not known here.
type Usage struct{}

// ThisMachine says what Go knows of it.
func ThisMachine(used [2]int) Machine {
	return Machine{CPU: "unknown", Cores: runtime.NumCPU(), Used: used, Kernel: "unknown", Go: runtime.Version() + " " + runtime.GOARCH}
}

// Usage is not known here.
func (s *Site) Usage() Usage { return Usage{} }

// Others is not known here.
func (u Usage) Others(Usage) float64 { return 0 }

// ErrNotHere is of what cannot be measured where the two ends are.
var ErrNotHere = errors.New("not where the two ends are")

// String is nothing here.
func (s *Site) String() string { return "" }

// Shared is true here.
func (s *Site) Shared() bool { return true }

// MTU is 0 here.
func (s *Site) MTU() int { return 0 }

// NewSite always fails here, with an errors.ErrUnsupported.
func NewSite(context.Context, Options) (*Site, error) { return nil, errNotSupported }

// Close does nothing here.
func (s *Site) Close() {}

// Open always fails here.
func (s *Site) Open(Variant) (*Station, error) { return nil, errNotSupported }

// Turn always fails here.
func (st *Station) Turn(Exchange, func(error)) (Run, error) { return Run{}, errNotSupported }

// Close does nothing here.
func (st *Station) Close() {}
