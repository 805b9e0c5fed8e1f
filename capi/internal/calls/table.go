// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"sync"
	"syscall"
)

// An object is what a handle stands for.
type object interface {
	// close ends it; the handle is no longer in the table.
	close(timeout int) error
	// of is the node it belongs to, itself if it is one.
	of() *Node
}

// firstHandle is above every file descriptor that a program may mistake for a handle.
const firstHandle = 1 << 20

// handles is the table. A number is given out again only after all others have been.
var handles = struct {
	sync.RWMutex
	objects map[int32]object
	last    int32
}{objects: map[int32]object{}, last: firstHandle}

// add gives an object a handle. Of a node that is closed it closes the object. Errors:
// EBADF then.
func add(o object) (int32, error) {
	handles.Lock()
	if o.of().closed {
		handles.Unlock()
		o.close(0)
		return 0, failed(syscall.EBADF, "the node was closed")
	}
	defer handles.Unlock()
	for {
		if handles.last++; handles.last < firstHandle {
			handles.last = firstHandle
		}
		if handles.objects[handles.last] == nil {
			handles.objects[handles.last] = o
			return handles.last, nil
		}
	}
}

// find is the object of a handle. Errors: EBADF where there is none, EOPNOTSUPP where it is
// of another kind than T.
func find[T object](h int32) (T, error) {
	handles.RLock()
	o := handles.objects[h]
	handles.RUnlock()
	t, ok := o.(T)
	switch {
	case o == nil:
		return t, failed(syscall.EBADF, "%d is not the handle of anything that is open", h)
	case !ok:
		return t, failed(syscall.EOPNOTSUPP, "%d is the handle of %v", h, o)
	}
	return t, nil
}

// Close closes what has the handle, and with a node all that is of it. The timeout is how long
// a node or a connection waits until what was sent has arrived; the handle is closed in any
// case. Errors: EBADF; ETIMEDOUT, or EAGAIN without a timeout, where not all has; those of package stack.
func Close(h int32, timeout int) error {
	handles.Lock()
	o := handles.objects[h]
	if o == nil {
		handles.Unlock()
		return failed(syscall.EBADF, "%d is not the handle of anything that is open", h)
	}
	delete(handles.objects, h)
	var its []object
	if n, ok := o.(*Node); ok {
		n.closed = true
		for h, o := range handles.objects {
			if o.of() == n {
				its = append(its, o)
				delete(handles.objects, h)
			}
		}
	}
	handles.Unlock()
	err := inTime(o.close(timeout), timeout)
	for _, o := range its {
		o.close(0)
	}
	return err
}
