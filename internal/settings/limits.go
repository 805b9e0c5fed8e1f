// SPDX-License-Identifier: Apache-2.0

package settings

// Limits bound what the attached programs may take of the daemon. What is beyond one is
// refused, and counted.
type Limits struct {
	Records int   `toml:"records" range:"1-1000000000" zero:"any number" doc:"records that a process may send a second, for long; beyond, it is read more slowly"`
	Process Limit `toml:"process"`
	User    Limit `toml:"user"`
	Server  Limit `toml:"server"`
}

// A Limit is how much one process, one user, or all together may have.
type Limit struct {
	Connections   int `toml:"connections" range:"1-1048576" doc:"TIPC sockets, subscriptions, and one for the program"`
	Names         int `toml:"names" range:"1-65535" doc:"bindings, and members of groups"`
	Subscriptions int `toml:"subscriptions" range:"1-65535" doc:"to topology events; captures"`
	Calls         int `toml:"calls" range:"1-1048576" doc:"requests that wait for their answer"`
	Rings         int `toml:"rings" range:"1-65536" doc:"in shared memory, of 256 KiB each way or less; a larger one counts as several"`
	Watches       int `toml:"watches" range:"1-256" doc:"of what happens to the node"`
	Captures      int `toml:"captures" range:"1-8" doc:"of frames"`
	Audits        int `toml:"audits" range:"1-64" doc:"of binding tables, at once"`
	QueuedBytes   int `toml:"queued_bytes" range:"65536-1099511627776" doc:"that wait for the program to read them, or to be sent; beyond, messages are refused, and the connection that holds most ends"`
}

var defaultLimits = Limits{
	Process: Limit{Connections: 4096, Names: 8192, Subscriptions: 256, Calls: 1024, Rings: 256, Watches: 16, Captures: 4, Audits: 2, QueuedBytes: 64 << 20},
	User:    Limit{Connections: 16384, Names: 32768, Subscriptions: 1024, Calls: 4096, Rings: 1024, Watches: 64, Captures: 8, Audits: 4, QueuedBytes: 256 << 20},
	Server:  Limit{Connections: 65536, Names: 65000, Subscriptions: 8192, Calls: 16384, Rings: 4096, Watches: 240, Captures: 8, Audits: 8, QueuedBytes: 1 << 30},
}
