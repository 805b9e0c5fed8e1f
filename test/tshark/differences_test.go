// SPDX-License-Identifier: Apache-2.0

package tshark

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A difference is a reason for which tshark 4.0 says something else than we do,
// and is wrong, or says nothing.
type difference struct {
	why     string
	applies func(m frame.Message, encrypted bool, field string, ours []string, theirs string) bool
}

var differences = []difference{
	{
		"it reads the bits of word 5 in the opening of the broadcast link as a network's number",
		func(m frame.Message, _ bool, field string, _ []string, theirs string) bool {
			_, err := frame.ParseBcastInit(m)
			return err == nil && field == "tipcv2.network_id" && theirs == "16384"
		},
	},
	{
		"it takes the group protocol for an older one, whose words mean other things",
		func(m frame.Message, _ bool, _ string, _ []string, _ string) bool {
			return m.Bytes() != nil && m.User() == frame.UserGroup
		},
	},
}

// explain returns the reason for a difference, or nil.
func explain(b []byte, field string, ours []string, theirs string) *difference {
	m, err := frame.Parse(b)
	for i := range differences {
		if d := &differences[i]; d.applies(m, err == frame.ErrEncrypted, field, ours, theirs) {
			return d
		}
	}
	return nil
}

// tipc returns the message in a frame that carries one.
func tipc(f layers.Frame) ([]byte, bool) {
	_, b, err := layers.Unwrap(f.Data)
	return b, err == nil && b != nil
}
