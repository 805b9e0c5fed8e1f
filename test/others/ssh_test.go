// SPDX-License-Identifier: Apache-2.0

package others

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"net"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"
)

// runSSH logs in, and forwards connections to where the server connects for it: to an echo.
func runSSH(ctx context.Context, t testing.TB, p place) {
	_, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	key, err := ssh.NewSignerFromKey(private)
	must(t, err)
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(key)
	ln, err := p.listen()
	must(t, err)
	defer ln.Close()
	served := make(chan error, 1)
	go func() { served <- serveSSH(ln, config) }()

	c, err := p.dial(ctx)
	must(t, err)
	conn, channels, requests, err := ssh.NewClientConn(c, "", &ssh.ClientConfig{
		User: "test", HostKeyCallback: ssh.FixedHostKey(key.PublicKey()),
	})
	must(t, err)
	client := ssh.NewClient(conn, channels, requests)
	var group errgroup.Group
	group.SetLimit(5)
	for i := range 20 {
		group.Go(func() error {
			c, err := client.DialContext(ctx, "tcp", "10.0.0.1:7") // no such host: the server takes it
			if err != nil {
				return err
			}
			defer c.Close()
			return comesBack(c, bytes.Repeat([]byte{byte(i)}, 100<<10))
		})
	}
	must(t, group.Wait())
	must(t, client.Close())
	must(t, <-served)
}

// serveSSH echoes on the forwarded connections of the first client until it ends.
func serveSSH(ln net.Listener, config *ssh.ServerConfig) error {
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return err
	}
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		if asked.ChannelType() != "direct-tcpip" {
			asked.Reject(ssh.UnknownChannelType, "forwarding only")
			continue
		}
		channel, requests, err := asked.Accept()
		if err != nil {
			return err
		}
		go ssh.DiscardRequests(requests)
		go func() {
			io.Copy(channel, channel)
			channel.Close()
		}()
	}
	return nil
}
