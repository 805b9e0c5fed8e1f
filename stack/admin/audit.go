// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"encoding/json"
	"time"

	"github.com/utipc/utipc/internal/control"
)

// An AuditConfig is how an audit is done; its zero value means the defaults.
type AuditConfig struct {
	// Types are service types to ask about, beside those that this node knows bindings
	// of. What no binding here shows is not asked unless it is named.
	Types []uint32
	// Settle is how long what differs is given until it is asked about again; zero:
	// 500 ms. It has to be longer than a change takes to every node.
	Settle time.Duration
	// Timeout is how long a node may say nothing before it counts as one that could
	// not be asked; zero: 8 s.
	Timeout time.Duration
}

// A NodeAudit is how the binding table of another node compares with this node's, by
// range and socket. Keys are not told by other nodes; they are zero.
type NodeAudit struct {
	Node     NodeAddr
	Bindings int       // of cluster scope, that it told of when it was asked first
	Lacks    []Binding // those here that it has not
	Extra    []Binding // those it has that are not here
	Err      error     // why it could not be asked; then the rest says nothing
}

// An AuditReport is what an audit found.
type AuditReport struct {
	Node     NodeAddr // this node
	Bindings int      // of cluster scope, here
	Types    []uint32 // that were asked about
	Nodes    []NodeAudit
}

// Differences is the number of bindings that differ, those of all nodes together.
func (r *AuditReport) Differences() (d int) {
	for _, a := range r.Nodes {
		d += len(a.Lacks) + len(a.Extra)
	}
	return d
}

// Unasked is the number of nodes that could not be asked.
func (r *AuditReport) Unasked() (k int) {
	for _, a := range r.Nodes {
		if a.Err != nil {
			k++
		}
	}
	return k
}

// What of a NodeAudit is JSON: the error is a record.
type nodeAuditFields struct {
	Node     NodeAddr
	Bindings int
	Lacks    []Binding
	Extra    []Binding
	Err      json.RawMessage `json:",omitempty"`
}

// MarshalJSON implements json.Marshaler: with the error as it travels on the daemon's socket.
func (a NodeAudit) MarshalJSON() ([]byte, error) {
	_, record := control.EncodeError(a.Err)
	return json.Marshal(nodeAuditFields{a.Node, a.Bindings, a.Lacks, a.Extra, record})
}

// UnmarshalJSON implements json.Unmarshaler. Errors: those of package json, and that the
// record of the error is none.
func (a *NodeAudit) UnmarshalJSON(b []byte) error {
	var f nodeAuditFields
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if string(f.Err) == "null" {
		f.Err = nil
	}
	why, err := control.DecodeError(0, f.Err)
	if err != nil {
		return err
	}
	*a = NodeAudit{f.Node, f.Bindings, f.Lacks, f.Extra, why}
	return nil
}
