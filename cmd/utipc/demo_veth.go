// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"sync"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// A demoVeth is a network of two hosts as the kernel has it:
//
//	+-- namespace 0 --+            +------- namespace 1 -------+
//	|                 |            |        +-- beta0  (beta)  |
//	|   (alpha) tipc0 |============| tipc1 -+                  |
//	|                 |  veth pair |        +-- gamma0 (gamma) |
//	+-----------------+            +---------------------------+
//
// A node owns its interface, so the two in namespace 1 have a macvlan each, which
// is what a refused owner is advised to do.
type demoVeth struct {
	bed *bed.Bed

	mu   sync.Mutex // guards open: nodes are plugged in at the same time
	open [3]xdp.Bearer
}

func newDemoVeth() (*demoVeth, error) {
	b, err := bed.New(bed.Options{})
	if err != nil {
		return nil, fmt.Errorf("a bed of two network namespaces: %w", err)
	}
	return &demoVeth{bed: b}, nil
}

func (v *demoVeth) is() string { return "a veth pair between two network namespaces" }

func (v *demoVeth) plug(i int, name string) (netdev.Device, error) {
	end, ifname := 0, v.bed.Name(0)
	if i > 0 {
		end, ifname = 1, name+"0"
		if err := v.bed.Namespace(1).Macvlan(v.bed.Name(1), ifname); err != nil {
			return nil, err
		}
	}
	var dev xdp.Bearer
	err := v.bed.Do(end, func() (err error) {
		dev, err = xdp.Open(ifname, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.open[i] = dev
	v.mu.Unlock()
	return dev, nil
}

// drivers puts interfaces with the same driver for the same reason into one line.
func (v *demoVeth) drivers() (lines []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	names := make(map[string][]string)
	var whys []string
	for _, dev := range v.open {
		why := fmt.Sprintf("%v: %s", dev.Method(), dev.Reason())
		if names[why] == nil {
			whys = append(whys, why)
		}
		names[why] = append(names[why], dev.Name())
	}
	for _, why := range whys {
		lines = append(lines, fmt.Sprintf("driver of %s: %s", strings.Join(names[why], ", "), why))
	}
	return lines
}

func (v *demoVeth) close() { v.bed.Close() }
