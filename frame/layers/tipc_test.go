// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"fmt"
	"log"
	"testing"

	"github.com/google/gopacket"
	glayers "github.com/google/gopacket/layers"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/layers"
)

// Proves: tools.decode
func TestImportTeachesGopacket(t *testing.T) {
	if got := glayers.EthernetTypeMetadata[frame.EtherType]; got.LayerType != layers.LayerTypeTIPC || got.Name != "TIPC" {
		t.Errorf("EtherType: got %v %q, want %v TIPC", got.LayerType, got.Name, layers.LayerTypeTIPC)
	}
	if got := (&glayers.UDP{DstPort: layers.UDPPort}).NextLayerType(); got != layers.LayerTypeTIPC {
		t.Errorf("UDP: got %v, want %v", got, layers.LayerTypeTIPC)
	}
	if got, want := layers.LayerTypeTIPC, gopacket.LayerType(0x88ca); got != want {
		t.Errorf("got number %d, want %d", got, want)
	}
}

// Proves: tools.decode
func TestLayer(t *testing.T) {
	for _, c := range []struct {
		name string
		want int
	}{{"01-discovery-linkup", 69}, {"06-rdm", 62}, {"26-udp-multicast", 52}} {
		frames, err := readAll(capture(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for i, f := range frames {
			p := gopacket.NewPacket(f.Data, glayers.LayerTypeEthernet, gopacket.Default)
			l, ok := p.Layer(layers.LayerTypeTIPC).(*layers.TIPC)
			if !ok {
				continue
			}
			got++
			_, m, _ := layers.Unwrap(f.Data)
			if !bytes.Equal(join(l.LayerContents(), l.LayerPayload()), m) || !bytes.Equal(l.Message.Bytes(), m) {
				t.Errorf("%s frame %d: the layer is not the message", c.name, i+1)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %d TIPC layers, want %d", c.name, got, c.want)
		}
	}
}

func TestLayerFailsQuietly(t *testing.T) {
	frames, _ := readAll(capture(t, "06-rdm"))
	b := frames[36].Data
	for n := frame.EthernetLen; n < len(b); n++ {
		p := gopacket.NewPacket(b[:n], glayers.LayerTypeEthernet, gopacket.Default)
		if p.Layer(layers.LayerTypeTIPC) != nil || p.ErrorLayer() == nil && n > frame.EthernetLen {
			t.Errorf("cut to %d: got a layer or no error, want an error", n)
		}
		if n > frame.EthernetLen && !p.Metadata().Truncated {
			t.Errorf("cut to %d: got not truncated, want truncated", n)
		}
	}
}

func TestDecodingLayer(t *testing.T) {
	frames, _ := readAll(capture(t, "01-discovery-linkup"))
	var eth glayers.Ethernet
	var tipc layers.TIPC
	var rest gopacket.Payload
	parser := gopacket.NewDecodingLayerParser(glayers.LayerTypeEthernet, &eth, &tipc, &rest)
	var types []gopacket.LayerType
	if err := parser.DecodeLayers(frames[7].Data, &types); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(types), "[Ethernet TIPC Payload]"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A program that uses gopacket imports the package and finds TIPC among the layers.
//
// Proves: house.docs, tools.decode
func ExampleTIPC() {
	frames, err := layers.ReadFile(captures + "/01-discovery-linkup.pcap")
	if err != nil {
		log.Fatal(err)
	}
	p := gopacket.NewPacket(frames[7].Data, glayers.LayerTypeEthernet, gopacket.Lazy)
	if l, ok := p.Layer(layers.LayerTypeTIPC).(*layers.TIPC); ok {
		line, _ := describe.Message(l.Message.Bytes())
		fmt.Println(line)
	}
	// Output: 1001001>1001002 link/reset if=eth0 max=1500 session=50968 bcast-invalid seq=32768 ack=0 bcast-ack=0
}
