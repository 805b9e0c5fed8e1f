// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

func parsePayload(m frame.Message) (any, []byte, error) {
	p, err := frame.ParsePayload(m)
	if err != nil {
		return nil, nil, err
	}
	return p.Fields(), p.Data(), nil
}

func parseState(m frame.Message) (any, []byte, error) {
	l, err := frame.ParseLink(m)
	if err != nil {
		return nil, nil, err
	}
	s, ok := l.State()
	if !ok {
		return nil, nil, frame.ErrUnknown
	}
	return s.Fields(), s.Data(), nil
}

func parseReset(m frame.Message) (any, []byte, error) {
	l, err := frame.ParseLink(m)
	if err != nil {
		return nil, nil, err
	}
	r, ok := l.Reset()
	if !ok {
		return nil, nil, frame.ErrUnknown
	}
	return r.Fields(), nil, nil
}

func parseDiscovery(m frame.Message) (any, []byte, error) {
	d, err := frame.ParseDiscovery(m)
	if err != nil {
		return nil, nil, err
	}
	return d.Fields(), nil, nil
}

func parseNames(m frame.Message) (any, []byte, error) {
	n, err := frame.ParseNames(m)
	if err != nil {
		return nil, nil, err
	}
	return n.Fields(), n.Data(), nil
}

func parseBcastInit(m frame.Message) (any, []byte, error) {
	i, err := frame.ParseBcastInit(m)
	if err != nil {
		return nil, nil, err
	}
	return i.Fields(), nil, nil
}

func parseConn(m frame.Message) (any, []byte, error) {
	c, err := frame.ParseConn(m)
	if err != nil {
		return nil, nil, err
	}
	return c.Fields(), nil, nil
}

func parseFragment(m frame.Message) (any, []byte, error) {
	f, err := frame.ParseFragment(m)
	if err != nil {
		return nil, nil, err
	}
	return f.Fields(), f.Data(), nil
}

func parseBundle(m frame.Message) (any, []byte, error) {
	u, err := frame.ParseBundle(m)
	if err != nil {
		return nil, nil, err
	}
	return u.Fields(), u.Data(), nil
}

func parseGroup(m frame.Message) (any, []byte, error) {
	g, err := frame.ParseGroup(m)
	if err != nil {
		return nil, nil, err
	}
	return g.Fields(), nil, nil
}

func parseTunnel(m frame.Message) (any, []byte, error) {
	x, err := frame.ParseTunnel(m)
	if err != nil {
		return nil, nil, err
	}
	return x.Fields(), x.Data(), nil
}

func parseKey(m frame.Message) (any, []byte, error) {
	k, err := frame.ParseKey(m)
	if err != nil {
		return nil, nil, err
	}
	return k.Fields(), k.Key(), nil
}

func parseBcastNack(m frame.Message) (any, []byte, error) {
	n, err := frame.ParseBcastNack(m)
	if err != nil {
		return nil, nil, err
	}
	return n.Fields(), nil, nil
}

func parseUDPDiscoveryFields(m frame.Message) (any, []byte, error) {
	d, err := samples.ParseUDPDiscovery(m)
	if err != nil {
		return nil, nil, err
	}
	return d.Fields(), nil, nil
}

// build is Append of any of the fields structs; data is for those that take some.
func build(fields any, b, data []byte) []byte {
	switch f := fields.(type) {
	case frame.PayloadFields:
		return f.Append(b, data)
	case frame.StateFields:
		return f.Append(b, data)
	case frame.ResetFields:
		return f.Append(b)
	case frame.DiscoveryFields:
		return f.Append(b)
	case frame.NamesFields:
		return append(f.Append(b, items(data)...), data[len(data)/frame.NameItemLen*frame.NameItemLen:]...)
	case frame.BcastInitFields:
		return f.Append(b)
	case frame.ConnFields:
		return f.Append(b)
	case frame.FragmentFields:
		return f.Append(b, data)
	case frame.BundleFields:
		return f.Append(b, data)
	case frame.GroupFields:
		return f.Append(b)
	case frame.TunnelFields:
		return f.Append(b, data)
	case frame.KeyFields:
		return f.Append(b, data)
	case frame.BcastNackFields:
		return f.Append(b)
	}
	panic("no such fields")
}

func items(data []byte) (all []frame.NameItem) {
	w := func(i int) uint32 {
		return uint32(data[4*i])<<24 | uint32(data[4*i+1])<<16 | uint32(data[4*i+2])<<8 | uint32(data[4*i+3])
	}
	for ; len(data) >= frame.NameItemLen; data = data[frame.NameItemLen:] {
		all = append(all, frame.NameItem{Range: frame.Range{Type: w(0), Lower: w(1), Upper: w(2)}, Port: w(3), Key: w(4)})
	}
	return all
}

func ifName(s string) (n [frame.IfNameLen]byte) {
	copy(n[:], s)
	return n
}
