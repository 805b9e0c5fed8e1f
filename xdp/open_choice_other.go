// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package xdp

import (
	"io"
	"net"
)

// Open always fails here, with an errors.ErrUnsupported.
func Open(string, *Config) (Bearer, error) { return nil, errNotSupported }

// Probe always fails here, with an errors.ErrUnsupported.
func Probe(string) (Facts, error) { return Facts{}, errNotSupported }

// ProbeHost knows nothing here.
func ProbeHost() Host { return Host{} }

// Interfaces fails here, with an errors.ErrUnsupported.
func Interfaces() ([]string, error) { return nil, errNotSupported }

// ProbeLink always fails here, with an errors.ErrUnsupported.
func ProbeLink(string) (Link, error) { return Link{}, errNotSupported }

// FindLink always fails here, with an errors.ErrUnsupported.
func FindLink(string) (Link, error) { return Link{}, errNotSupported }

// LookAround finds nobody here.
func LookAround() (map[int]Around, error) { return nil, nil }

// WatchNews always fails here, with an errors.ErrUnsupported.
func WatchNews(func()) (io.Closer, error) { return nil, errNotSupported }

// InterfaceByName always fails here, with an errors.ErrUnsupported.
func InterfaceByName(string) (*net.Interface, error) { return nil, errNotSupported }
