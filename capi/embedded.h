/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node that the preload library has in a program's own process, for TCP: see package embedded. Not installed, and no
 * part of the library's interface: the preload library is of the same version. Addresses of IPv4 and ports are numbers of this
 * machine. A function fails with a negative errno; of a forked child all but utipc_embedded_close do, with -EOWNERDEAD.
 */
#ifndef UTIPC_EMBEDDED_H
#define UTIPC_EMBEDDED_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* An address of TCP, and the socket of a node that has it. */
struct utipc_embedded_at {
	uint32_t ip, port;
	uint32_t node, ref;
};

/* What went through the node: connections, and bytes of the program. */
struct utipc_embedded_counters {
	uint64_t connections, in, out;
};

/* Opens the node that a text says, "embedded:...", once; its address is in *node. */
int utipc_embedded_open(const char *text, uint32_t *node);
/* Closes it; what was sent has ms to arrive. */
int utipc_embedded_finish(int ms);
/* Listens for at; at->node and at->ref are the listener's own. Returns a handle. */
int utipc_embedded_listen(struct utipc_embedded_at *at, int backlog);
/* Accepts; from is who connects, and the node that it is at. Returns a handle. */
int utipc_embedded_accept(int listener, struct utipc_embedded_at *from);
/* Begins a connection. Returns a handle. */
int utipc_embedded_connect(const struct utipc_embedded_at *from, const struct utipc_embedded_at *to);
/* Says what n handles are ready for, in the bits of poll(2); with turn it drives the node once. */
int utipc_embedded_poll(const int32_t *handles, uint16_t *ready, int n, int turn);
/* A descriptor that becomes readable when something is ready, until it is given back. */
int utipc_embedded_arm(void);
int utipc_embedded_disarm(int fd);
ssize_t utipc_embedded_send(int handle, const struct iovec *v, int n);
ssize_t utipc_embedded_recv(int handle, const struct iovec *v, int n, int peek);
int utipc_embedded_error(int handle);
int utipc_embedded_shutdown(int handle, int how);
int utipc_embedded_close(int handle, int abort);
int utipc_embedded_counters(struct utipc_embedded_counters *c);

#endif
