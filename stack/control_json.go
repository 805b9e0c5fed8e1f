// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"encoding/json"
	"time"
)

// What of a Wait and a NodeAudit is JSON: addresses are texts, errors records.
type (
	waitFields struct {
		Socket SocketAddr
		To     wireAddr
		Bytes  int
		Since  time.Time
		blockedFields
		Cause *wireError `json:",omitempty"`
	}
	nodeAuditFields struct {
		Node     NodeAddr
		Bindings int
		Lacks    []Binding
		Extra    []Binding
		Err      *wireError `json:",omitempty"`
	}
)

// MarshalJSON implements json.Marshaler: with the addresses as text.
func (w Wait) MarshalJSON() ([]byte, error) {
	return json.Marshal(waitFields{w.Socket, wireAddr{w.To}, w.Bytes, w.Since, fieldsOfBlocked(&w.BlockedError), wireOrNil(w.Cause)})
}

// UnmarshalJSON implements json.Unmarshaler. Errors: those of package json,
// ErrErrorRecord.
func (w *Wait) UnmarshalJSON(b []byte) error {
	var f waitFields
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	cause, err := f.Cause.told()
	if err != nil {
		return err
	}
	*w = Wait{f.Socket, f.To.Addr, f.Bytes, f.Since, *f.blockedFields.error(cause)}
	return nil
}

// MarshalJSON implements json.Marshaler: with the error as DecodeError takes it.
func (a NodeAudit) MarshalJSON() ([]byte, error) {
	return json.Marshal(nodeAuditFields{a.Node, a.Bindings, a.Lacks, a.Extra, wireOrNil(a.Err)})
}

// UnmarshalJSON implements json.Unmarshaler. Errors: those of package json,
// ErrErrorRecord.
func (a *NodeAudit) UnmarshalJSON(b []byte) error {
	var f nodeAuditFields
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	told, err := f.Err.told()
	if err != nil {
		return err
	}
	*a = NodeAudit{f.Node, f.Bindings, f.Lacks, f.Extra, told}
	return nil
}

func wireOrNil(err error) *wireError {
	if err == nil {
		return nil
	}
	return wireOf(err, maxErrorDepth)
}

// told is the error that the record tells of, if there is one.
func (w *wireError) told() (told, err error) {
	if w == nil {
		return nil, nil
	}
	return w.error(maxErrorDepth)
}
