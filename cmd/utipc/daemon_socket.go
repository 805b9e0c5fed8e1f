// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	protocol "github.com/utipc/utipc/attach"
)

// serve takes programs at a socket.
func (d *daemonProcess) serve(l *protocol.Listener) {
	d.listener.Store(l)
	go func() {
		if err := d.server.Serve(l); d.listener.Load() == l {
			d.served <- err
		}
	}()
}

// keepSocket makes the socket again where its file was removed. Programs that are attached
// notice nothing.
func (d *daemonProcess) keepSocket() {
	path := d.settings.Socket.Path
	old := d.listener.Load()
	if strings.HasPrefix(path, "@") || old != nil && !missing(path) {
		return
	}
	d.listener.Store(nil)
	if old != nil {
		old.Close()
	}
	err := makeDir(filepath.Dir(path))
	if err == nil && missing(d.lock.file.Name()) {
		var again *daemonLock
		if again, err = lockSocket(path); err == nil {
			d.lock.file.Close()
			d.lock = again
		}
	}
	var l *protocol.Listener
	if err == nil {
		l, err = protocol.Listen(path, fs.FileMode(d.settings.Socket.Mode)&os.ModePerm, d.gid)
	}
	switch {
	case err == nil:
		d.log.Warn("socket made again", "socket", path, "reason", "its file was removed")
		d.serve(l)
	case !d.unserved:
		d.log.Error("socket not made again", "socket", path, "err", err, "remedy", socketRemedy(err))
	}
	d.unserved = err != nil
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
