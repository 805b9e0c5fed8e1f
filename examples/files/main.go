// SPDX-License-Identifier: Apache-2.0

// Files copies files between nodes. "files serve DIR" offers those of a folder, "files get NAME TO" fetches one. When
// the connection breaks, because the server, its node or a daemon has ended, get goes on where it was once the name is
// there again.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/utipc/utipc/stack"
)

var service = stack.Service{Type: 18888, Instance: 21}

func main() {
	ctx := context.Background()
	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE
	if err == nil && len(os.Args) == 4 && os.Args[1] == "get" {
		err = errors.Join(get(ctx, node, os.Args[2], os.Args[3]), node.Close(ctx))
	} else if err == nil {
		err = serve(ctx, node, os.Args[len(os.Args)-1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve offers the files below dir.
func serve(ctx context.Context, node *stack.Node, dir string) error {
	root, err := os.OpenRoot(dir) // "../x" is not below it
	if err != nil {
		return err
	}
	defer root.Close()
	ln, err := node.Listen(ctx, "tipc", service)
	if err != nil {
		return err
	}
	defer ln.Close()
	for {
		c, err := ln.AcceptContext(ctx)
		if err != nil {
			return err // ctx is done, or the node was closed; not when a daemon ends
		}
		go send(c, root)
	}
}

// send reads what the client has and wants, and writes the size of the file, and what is missing.
func send(c *stack.Conn, root *os.Root) {
	defer c.Close() // the client reads all that was written, then io.EOF
	var have, size int64
	var name string
	if _, err := fmt.Fscanf(c, "%d %q\n", &have, &name); err != nil {
		return
	}
	f, err := root.Open(name)
	if err == nil {
		defer f.Close()
		size, err = f.Seek(0, io.SeekEnd)
	}
	if fmt.Fprintf(c, "%d %q\n", size, fmt.Sprint(err)); err == nil {
		io.Copy(c, io.NewSectionReader(f, have, size-have))
	}
}

// get fetches a file, on one connection after the other.
func get(ctx context.Context, node *stack.Node, name, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	for more := true; err == nil && more; {
		if err = node.WaitFor(ctx, service); err == nil { // until somebody has the name
			more, err = receive(ctx, node, name, f)
		}
	}
	return errors.Join(err, f.Close())
}

// receive appends to f what it does not have. There is more when the connection has broken, which is no error.
func receive(ctx context.Context, node *stack.Node, name string, f *os.File) (more bool, err error) {
	c, err := node.Dial(ctx, "tipc", service)
	if err != nil {
		return true, nil // whoever had the name has ended since
	}
	defer c.Close()
	var size int64
	failed := ""
	have, _ := f.Seek(0, io.SeekEnd)
	fmt.Fprintf(c, "%d %q\n", have, name)
	r := bufio.NewReader(c)
	if _, err := fmt.Fscanf(r, "%d %q\n", &size, &failed); err != nil {
		return true, nil
	} else if failed != "<nil>" {
		return false, errors.New(failed)
	}
	n, err := io.Copy(f, r)
	return have+n < size, nil
}
