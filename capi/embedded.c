/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library calls, see embedded.h. */
#include <errno.h>

#include "embedded.h"
#include "note.h"
#include "_cgo_export.h"

#define ENTER(call) (utipcOwn() ? (call) : -EOWNERDEAD)

int utipc_embedded_open(const char *text, uint32_t *node) { return ENTER(utipcGoEmbeddedOpen((char *)text, node)); }

int utipc_embedded_finish(int ms) { return ENTER(utipcGoEmbeddedFinish(ms)); }

int utipc_embedded_listen(struct utipc_embedded_at *at, int backlog) { return ENTER(utipcGoEmbeddedListen(at, backlog)); }

int utipc_embedded_accept(int listener, struct utipc_embedded_at *from) { return ENTER(utipcGoEmbeddedAccept(listener, from)); }

int utipc_embedded_connect(const struct utipc_embedded_at *from, const struct utipc_embedded_at *to)
{
	return ENTER(utipcGoEmbeddedConnect((struct utipc_embedded_at *)from, (struct utipc_embedded_at *)to));
}

int utipc_embedded_poll(const int32_t *handles, uint16_t *ready, int n, int turn)
{
	return ENTER(utipcGoEmbeddedPoll((int32_t *)handles, ready, n, turn));
}

int utipc_embedded_arm(void) { return ENTER(utipcGoEmbeddedArm()); }

int utipc_embedded_disarm(int fd) { return ENTER(utipcGoEmbeddedDisarm(fd)); }

ssize_t utipc_embedded_send(int handle, const struct iovec *v, int n)
{
	return ENTER(utipcGoEmbeddedSend(handle, (struct iovec *)v, n));
}

ssize_t utipc_embedded_recv(int handle, const struct iovec *v, int n, int peek)
{
	return ENTER(utipcGoEmbeddedRecv(handle, (struct iovec *)v, n, peek));
}

int utipc_embedded_error(int handle) { return ENTER(utipcGoEmbeddedError(handle)); }

int utipc_embedded_shutdown(int handle, int how) { return ENTER(utipcGoEmbeddedShutdown(handle, how)); }

int utipc_embedded_close(int handle, int abort) { return ENTER(utipcGoEmbeddedClose(handle, abort)); }

int utipc_embedded_counters(struct utipc_embedded_counters *c) { return ENTER(utipcGoEmbeddedCounters(c)); }
