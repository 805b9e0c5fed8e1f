// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// A bag is a message of gRPC's: bytes, of which no copy is made. Who sends it gives it
// away; who receives it frees it or sends it on.
type bag struct{ data mem.BufferSlice }

// A codec moves bags: nothing is encoded, as is best where messages are bytes already.
type codec struct{}

func (codec) Name() string { return "bytes" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*bag)
	if !ok {
		return nil, fmt.Errorf("a message is a bag, not a %T", v)
	}
	return b.data, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*bag)
	if !ok {
		return fmt.Errorf("a message is a bag, not a %T", v)
	}
	data.Ref() // gRPC frees its own when this returns
	b.data = data
	return nil
}
