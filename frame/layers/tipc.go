// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/utipc/utipc/frame"
)

// LayerTypeTIPC is TIPC among gopacket's layer types. Its number is TIPC's
// EtherType.
var LayerTypeTIPC = gopacket.RegisterLayerType(frame.EtherType,
	gopacket.LayerTypeMetadata{Name: "TIPC", Decoder: gopacket.DecodeFunc(decodeTIPC)})

// A TIPC is a TIPC message as a gopacket layer: contents is the header, payload
// the message's data. What the data is depends on the message; gopacket gets it
// as plain bytes.
type TIPC struct {
	layers.BaseLayer
	Message frame.Message // shares memory with the packet
}

var _ gopacket.DecodingLayer = (*TIPC)(nil)

// LayerType returns LayerTypeTIPC.
func (*TIPC) LayerType() gopacket.LayerType { return LayerTypeTIPC }

// CanDecode returns LayerTypeTIPC.
func (*TIPC) CanDecode() gopacket.LayerClass { return LayerTypeTIPC }

// NextLayerType returns gopacket.LayerTypePayload.
func (*TIPC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DecodeFromBytes makes t the message at the head of data. Errors: those of
// frame.Parse.
func (t *TIPC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	m, err := frame.Parse(data)
	if err != nil {
		if errors.Is(err, frame.ErrTruncated) {
			df.SetTruncated()
		}
		return err
	}
	t.Message = m
	t.BaseLayer = layers.BaseLayer{Contents: m.Bytes()[:m.HeaderLen()], Payload: m.Data()}
	return nil
}

func decodeTIPC(data []byte, p gopacket.PacketBuilder) error {
	t := &TIPC{}
	if err := t.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(t)
	return p.NextDecoder(gopacket.LayerTypePayload)
}

// What importing the package changes in gopacket, for the whole program: EtherType
// 0x88CA and UDP port 6118 are decoded as TIPC.
func init() {
	layers.EthernetTypeMetadata[frame.EtherType] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeTIPC), Name: "TIPC", LayerType: LayerTypeTIPC,
	}
	layers.RegisterUDPPortLayerType(UDPPort, LayerTypeTIPC)
}
