// SPDX-License-Identifier: Apache-2.0

package settings

// Limits bound what one attached process, and one user, may take of the daemon.
type Limits struct {
	Sockets       int `toml:"sockets" flag:"limit-sockets" range:"1-1048576" doc:"TIPC sockets of one process"`
	UserSockets   int `toml:"user_sockets" flag:"limit-user-sockets" range:"1-1048576" doc:"TIPC sockets of all processes of one user"`
	AllSockets    int `toml:"all_sockets" flag:"limit-all-sockets" range:"1-1048576" doc:"TIPC sockets of all"`
	Names         int `toml:"names" flag:"limit-names" range:"1-65535" doc:"bindings of one process"`
	Subscriptions int `toml:"subscriptions" flag:"limit-subscriptions" range:"1-65535" doc:"subscriptions of one process"`
	Rate          int `toml:"rate" flag:"limit-rate" range:"1-1000000000" zero:"any" doc:"records a second of one process"`
}

var defaultLimits = Limits{Sockets: 4096, UserSockets: 16384, AllSockets: 65536, Names: 4096, Subscriptions: 1024}
