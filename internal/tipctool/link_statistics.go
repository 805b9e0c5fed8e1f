// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"io"
	"strings"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/internal/tipcshow"
)

// A statistic is a link in the list of "link statistics show".
type statistic struct {
	name   string
	text   func(io.Writer)
	object func() any
	extra  bool // shown only when asked for by name
}

func (c *call) showStatistics() error {
	o, err := c.options("link")
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	cast, err := n.Admin().BroadcastLink(c.ctx)
	if err != nil {
		return err
	}
	all := []statistic{{
		name:   tipcshow.BroadcastLink,
		text:   func(w io.Writer) { tipcshow.BroadcastStatistics(w, cast) },
		object: func() any { return tipcshow.BroadcastStatisticsJSON(cast) },
	}}
	links, err := c.rows(n)
	if err != nil {
		return err
	}
	received, err := n.Admin().Receptions(c.ctx)
	if err != nil {
		return err
	}
	for i := range links {
		l := &links[i]
		all = append(all, statistic{
			name:   l.Name,
			text:   func(w io.Writer) { tipcshow.Statistics(w, l) },
			object: func() any { return tipcshow.StatisticsJSON(l) },
		})
		// Behind the last link to a node stands what came on its broadcast link.
		if i+1 < len(links) && links[i+1].Peer == l.Peer {
			continue
		}
		for _, r := range received {
			if r.Peer != l.Peer {
				continue
			}
			row := tipcshow.CastRow{
				Name: printable.Prefix(r.Name, tipcshow.MaxLinkName), Window: cast.Window,
				Received: r.Received, Deferred: r.Deferred, Duplicates: r.Duplicates,
			}
			all = append(all, statistic{
				name:   row.Name,
				text:   func(w io.Writer) { tipcshow.ReceiveStatistics(w, &row) },
				object: func() any { return tipcshow.ReceiveStatisticsJSON(&row) },
				extra:  true,
			})
		}
	}
	want, only := o["link"]
	var shown []statistic
	for _, s := range all {
		if only && want != "all" && !strings.Contains(s.name, want) || s.extra && !only {
			continue
		}
		shown = append(shown, s)
	}
	return c.show(func(w io.Writer) {
		for _, s := range shown {
			s.text(w)
		}
	}, func() any {
		list := tipcshow.Array{}
		for _, s := range shown {
			list = append(list, s.object())
		}
		return list
	})
}
