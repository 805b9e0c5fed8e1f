// SPDX-License-Identifier: Apache-2.0

package bed

// Options say what New makes; zero fields mean the defaults.
type Options struct {
	MTU    int       // of both ends, in bytes; default 1500, at most 65535
	Queues int       // of each end, each way; default 1
	Names  [2]string // of the interfaces; default tipc0 and tipc1
}

func (o Options) withDefaults() Options {
	if o.MTU == 0 {
		o.MTU = 1500
	}
	if o.Queues == 0 {
		o.Queues = 1
	}
	for i, name := range [2]string{"tipc0", "tipc1"} {
		if o.Names[i] == "" {
			o.Names[i] = name
		}
	}
	return o
}
