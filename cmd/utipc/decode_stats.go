// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/internal/printable"
)

// writeStats prints what was counted of the conversations in a file.
func (d *decoder) writeStats() error {
	if d.json {
		_, err := fmt.Fprintf(d.out, "%s\n", d.statsJSON())
		return err
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, l := range d.tracker.Links() {
		if !d.filter.keepsLink(l) {
			continue
		}
		a, z := l.Ends[0].Node, l.Ends[1].Node
		fmt.Fprintf(w, "Link %s, %.3f s\n", printable.Text(l.String()), max(0, l.Last-l.First).Seconds())
		counterTable(w, []string{fmt.Sprintf("%v>%v", a, z), fmt.Sprintf("%v>%v", z, a)}, []*conversation.Counters{&l.Sent[0], &l.Sent[1]})
	}
	for _, s := range d.tracker.Senders() {
		if d.filter.keepsSender(s) {
			fmt.Fprintf(w, "Broadcasts of %v\n", s.End)
			counterTable(w, []string{fmt.Sprintf("%v>*", s.End.Node)}, []*conversation.Counters{&s.Sent})
		}
	}
	d.statsServices(w)
	d.statsPairs(w)
	totals, beyond := d.tracker.Totals()
	if beyond != (conversation.Beyond{}) {
		fmt.Fprintf(w, "Beyond the limits: %d packets of links, %d messages of sockets, %d of services\n\n", beyond.Links, beyond.Pairs, beyond.Services)
	}
	if totals.Sealed > 0 {
		fmt.Fprintf(w, "%d packets stayed encrypted\n\n", totals.Sealed)
	}
	w.Flush()
	for l := range strings.Lines(b.String()) {
		if d.name != "" {
			l = d.name + ": " + l
		}
		if _, err := d.out.WriteString(l); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) statsServices(out *bufio.Writer) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	some := false
	for _, s := range d.tracker.Services() {
		if len(d.filter.services) > 0 && !d.filter.wants(s.Range) {
			continue
		}
		if !some {
			fmt.Fprintln(w, "Service\tMessages\tBytes\tReturned")
		}
		some = true
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", serviceName(s), s.Messages, s.Bytes, s.Returned)
	}
	if some {
		fmt.Fprintln(w)
	}
	w.Flush()
}

func serviceName(s *conversation.Service) string {
	switch {
	case s.Group && s.Range.Lower == 0:
		return fmt.Sprintf("group %d", s.Range.Type)
	case s.Group:
		return fmt.Sprintf("group %d, instance %d", s.Range.Type, s.Range.Lower)
	}
	return shortRange(s.Range)
}

func (d *decoder) statsPairs(out *bufio.Writer) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	some := false
	for _, p := range d.tracker.Pairs() {
		if !d.filter.keepsPair(p) {
			continue
		}
		if !some {
			fmt.Fprintln(w, "From\tTo\tMessages\tBytes\tReturned\tService")
		}
		some = true
		name := "-"
		switch {
		case p.Service != nil:
			name = "connected with " + shortRange(*p.Service)
		case p.Connected:
			name = "connected"
		}
		for i := range p.Sockets {
			if p.Messages[i]+p.Returned[i] > 0 {
				fmt.Fprintf(w, "%v\t%v\t%d\t%d\t%d\t%s\n", p.Sockets[i], p.Sockets[1-i], p.Messages[i], p.Bytes[i], p.Returned[i], name)
			}
		}
	}
	if some {
		fmt.Fprintln(w)
	}
	w.Flush()
}

// counterTable prints a column for each of the counters, and a line for each number that
// is not 0 in all of them.
func counterTable(out *bufio.Writer, names []string, columns []*conversation.Counters) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\t\n", strings.Join(names, "\t"))
	t := reflect.TypeFor[conversation.Counters]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		line, some := strings.ReplaceAll(name, "_", " ")+"\t", false
		for _, c := range columns {
			f := reflect.ValueOf(c).Elem().Field(i)
			some = some || !f.IsZero()
			if x, ok := f.Interface().(conversation.Times); ok {
				line += timesText(x) + "\t"
			} else {
				line += fmt.Sprint(f.Interface()) + "\t"
			}
		}
		if some {
			fmt.Fprintln(w, line)
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}

// timesText is the least, the mean and the most, in milliseconds, and how often.
func timesText(t conversation.Times) string {
	if t.Samples == 0 {
		return "-"
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("%.3f/%.3f/%.3f ms, %d", ms(t.Min), ms(t.Mean()), ms(t.Max), t.Samples)
}

// What --json says of the conversations in a file.
type (
	statsReport struct {
		File       string              `json:"file,omitempty"`
		Totals     conversation.Totals `json:"totals"`
		Beyond     conversation.Beyond `json:"beyond"`
		Links      []statsLink         `json:"links"`
		Broadcasts []statsSender       `json:"broadcasts"`
		Services   []statsService      `json:"services"`
		Pairs      []statsPair         `json:"pairs"`
	}
	statsEnd struct {
		Node      string `json:"node"`
		Station   string `json:"station"`
		Interface string `json:"interface,omitempty"`
	}
	statsLink struct {
		Name    string                    `json:"name"`
		Seconds float64                   `json:"seconds"`
		Ends    [2]statsEnd               `json:"ends"`
		Sent    [2]*conversation.Counters `json:"sent"` // by each end
	}
	statsSender struct {
		From statsEnd               `json:"from"`
		Sent *conversation.Counters `json:"sent"`
	}
	statsService struct {
		Service  string `json:"service"`
		Group    bool   `json:"group,omitempty"`
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Returned uint64 `json:"returned"`
	}
	statsPair struct {
		Sockets   [2]string `json:"sockets"`
		Connected bool      `json:"connected"`
		Service   string    `json:"service,omitempty"` // that the connection was asked of
		Messages  [2]uint64 `json:"messages"`          // sent by each
		Bytes     [2]uint64 `json:"bytes"`
		Returned  [2]uint64 `json:"returned"` // to each
	}
)

func endOf(e conversation.End) statsEnd {
	s := statsEnd{Node: e.Node.String(), Interface: e.Interface}
	switch {
	case e.Station.IP.IsValid():
		s.Station = e.Station.IP.String()
	case e.Station.MAC != frame.MAC{}:
		s.Station = e.Station.MAC.String()
	}
	return s
}

func (d *decoder) statsJSON() []byte {
	r := statsReport{File: d.name, Links: []statsLink{}, Broadcasts: []statsSender{}, Services: []statsService{}, Pairs: []statsPair{}}
	r.Totals, r.Beyond = d.tracker.Totals()
	for _, l := range d.tracker.Links() {
		if d.filter.keepsLink(l) {
			r.Links = append(r.Links, statsLink{
				l.String(), max(0, l.Last-l.First).Seconds(),
				[2]statsEnd{endOf(l.Ends[0]), endOf(l.Ends[1])},
				[2]*conversation.Counters{&l.Sent[0], &l.Sent[1]},
			})
		}
	}
	for _, s := range d.tracker.Senders() {
		if d.filter.keepsSender(s) {
			r.Broadcasts = append(r.Broadcasts, statsSender{endOf(s.End), &s.Sent})
		}
	}
	for _, s := range d.tracker.Services() {
		if len(d.filter.services) == 0 || d.filter.wants(s.Range) {
			r.Services = append(r.Services, statsService{s.Range.String(), s.Group, s.Messages, s.Bytes, s.Returned})
		}
	}
	for _, p := range d.tracker.Pairs() {
		if !d.filter.keepsPair(p) {
			continue
		}
		x := statsPair{
			Sockets: [2]string{p.Sockets[0].String(), p.Sockets[1].String()}, Connected: p.Connected,
			Messages: p.Messages, Bytes: p.Bytes, Returned: p.Returned,
		}
		if p.Service != nil {
			x.Service = p.Service.String()
		}
		r.Pairs = append(r.Pairs, x)
	}
	b, err := json.Marshal(map[string]statsReport{"stats": r})
	if err != nil {
		panic(err) // no value we give can fail
	}
	return slices.Clip(b)
}
