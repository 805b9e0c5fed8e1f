// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package daemon

import "errors"

var errGone = errors.New("daemon: the program has gone")

type watch struct{ done chan struct{} }

type watched uint8

const (
	watchOver watched = iota
	watchGone
	watchRecord
)

func (x *session) newWatch() *watch { return &watch{make(chan struct{})} }

func (w *watch) over() { close(w.done) }

func (w *watch) wait() watched { <-w.done; return watchOver }

func (x *session) readCancel() (id uint32, ok bool) { return 0, false }
