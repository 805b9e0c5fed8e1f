// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"slices"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/stack/admin"
)

var errNoMedium = &admin.Refusal{Errno: syscall.EINVAL, Reason: "Media not found."}

func (r *request) putMedium(m *admin.MediumConfig) {
	r.item(mediaGet, ofMedium, func(a *attributes) {
		a.text(mediumName, m.Name)
		a.nest(mediumProperties, func(a *attributes) {
			putProperties(a, m.Priority, m.Tolerance, m.Window)
			if m.Name == udpMedium {
				a.number(propertyMTU, uint32(m.MTU))
			}
		})
	})
}

func dumpMedia(r *request) error {
	all, err := r.node.Admin().Media(r.ctx)
	for i := range all {
		r.putMedium(&all[i])
	}
	return err
}

// theMedium finds the medium that a request is about, which has attrs for it.
func (r *request) theMedium() (m *admin.MediumConfig, attrs []byte, err error) {
	attrs = netlink.Attribute(r.attrs, ofMedium)
	if !has(attrs, mediumName) {
		return nil, nil, syscall.EINVAL
	}
	all, err := r.node.Admin().Media(r.ctx)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all, func(m admin.MediumConfig) bool { return m.Name == netlink.Text(attrs, mediumName) })
	if i < 0 {
		return nil, nil, errNoMedium
	}
	return &all[i], attrs, nil
}

func getMedium(r *request) error {
	m, _, err := r.theMedium()
	if err == nil {
		r.putMedium(m)
	}
	return err
}

func setMedium(r *request) error {
	m, attrs, err := r.theMedium()
	if err != nil {
		return err
	}
	return r.setProperties("set-medium-property", m.Name, netlink.Attribute(attrs, mediumProperties))
}
