/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program calls. Each function looks whether this is the process that loaded the library,
 * and goes on in Go: a forked child has Go's memory, but none of its threads, and would wait for
 * them without end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utipc.h"
#include "note.h"
#include "_cgo_export.h"

#define SENTENCE 512 /* bytes of the longest sentence, which is cut there */

/* A page that the kernel empties in every child, however it was forked, or NULL. */
static volatile char *mine;
static pthread_key_t sentences;

static const char forked_text[] =
	"the process was forked after it had loaded libutipc; a child may use it after exec";

__attribute__((constructor)) static void begin(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pthread_key_create(&sentences, free) != 0 || page == MAP_FAILED ||
	    madvise(page, size, MADV_WIPEONFORK) != 0) {
		fprintf(stderr, "libutipc: no memory, or a kernel older than 4.14\n");
		abort();
	}
	*page = 1;
	mine = page;
}

void utipcNote(const char *text, size_t length)
{
	char *own = pthread_getspecific(sentences);

	if (own == NULL) {
		own = malloc(SENTENCE);
		if (own == NULL || pthread_setspecific(sentences, own) != 0) {
			free(own);
			return;
		}
	}
	if (length > SENTENCE - 1)
		length = SENTENCE - 1;
	memcpy(own, text, length);
	own[length] = 0;
}

static long forked(void)
{
	utipcNote(forked_text, sizeof forked_text - 1);
	return -EOWNERDEAD;
}

int utipcOwn(void) { return *mine; }

#define ENTER(call) (*mine ? (call) : forked())

const char *utipc_last_error(void)
{
	const char *own = pthread_getspecific(sentences);

	return own ? own : "";
}

const char *utipc_version(void) { return UTIPC_VERSION; }

const char *utipc_strerror(int error)
{
	const char *text = strerrordesc_np(error < 0 ? -(unsigned)error : (unsigned)error);

	return text ? text : "unknown error";
}

int utipc_open(const char *text, int timeout)
{
	return ENTER(utipcGoOpen((char *)text, getenv("UTIPC_NODE"), getenv("UTIPC_SOCKET"), timeout));
}

int utipc_close(int handle, int timeout) { return ENTER(utipcGoClose(handle, timeout)); }

int utipc_node_address(int node, uint32_t *address) { return ENTER(utipcGoNodeAddress(node, address)); }

int utipc_wait_nodes(int node, int count, int timeout) { return ENTER(utipcGoWaitNodes(node, count, timeout)); }

int utipc_wait_published(int node, int timeout) { return ENTER(utipcGoWaitPublished(node, timeout)); }

int utipc_wait_name(int node, const utipc_addr *name, int count, int timeout)
{
	return ENTER(utipcGoWaitName(node, (utipc_addr *)name, count, timeout));
}

ssize_t utipc_resolve(int node, const utipc_addr *name, utipc_addr *sockets, size_t room, int timeout)
{
	return ENTER(utipcGoResolve(node, (utipc_addr *)name, sockets, room, timeout));
}

ssize_t utipc_call(int node, const utipc_addr *to, const void *request, size_t length,
		   void *answer, size_t size, utipc_addr *from, int timeout)
{
	return ENTER(utipcGoCall(node, (utipc_addr *)to, (void *)request, length, answer, size, from, timeout));
}

int utipc_parse(const char *text, utipc_addr *address) { return ENTER(utipcGoParse((char *)text, address)); }

int utipc_format(const utipc_addr *address, char *text, size_t size)
{
	return ENTER(utipcGoFormat((utipc_addr *)address, text, size));
}

int utipc_socket(int node, int type, const utipc_addr *name, const utipc_options *options)
{
	return ENTER(utipcGoSocket(node, type, (utipc_addr *)name, (utipc_options *)options));
}

int utipc_listen(int node, int type, const utipc_addr *name, const utipc_options *options)
{
	return ENTER(utipcGoListen(node, type, (utipc_addr *)name, (utipc_options *)options));
}

int utipc_accept(int listener, int timeout) { return ENTER(utipcGoAccept(listener, timeout)); }

int utipc_connect(int node, int type, const utipc_addr *to, const utipc_options *options, int timeout)
{
	return ENTER(utipcGoConnect(node, type, (utipc_addr *)to, (utipc_options *)options, timeout));
}

int utipc_join(int node, const utipc_addr *group, const utipc_options *options)
{
	return ENTER(utipcGoJoin(node, (utipc_addr *)group, (utipc_options *)options));
}

int utipc_wait_members(int group, int count, int timeout) { return ENTER(utipcGoWaitMembers(group, count, timeout)); }

int utipc_bind(int socket, const utipc_addr *name, int scope)
{
	return ENTER(utipcGoBind(socket, (utipc_addr *)name, scope));
}

int utipc_unbind(int socket, const utipc_addr *name, int scope)
{
	return ENTER(utipcGoUnbind(socket, (utipc_addr *)name, scope));
}

int utipc_local(int socket, utipc_addr *address) { return ENTER(utipcGoLocal(socket, address)); }

int utipc_remote(int socket, utipc_addr *address) { return ENTER(utipcGoRemote(socket, address)); }

int utipc_shutdown(int connection) { return ENTER(utipcGoShutdown(connection)); }

ssize_t utipc_send(int socket, const void *data, size_t length, const utipc_addr *to, int timeout)
{
	return ENTER(utipcGoSend(socket, (void *)data, length, (utipc_addr *)to, timeout));
}

ssize_t utipc_recv(int socket, void *data, size_t size, utipc_info *info, int timeout)
{
	return ENTER(utipcGoRecv(socket, data, size, info, timeout));
}

int utipc_subscribe(int node, const utipc_addr *range, uint32_t flags)
{
	return ENTER(utipcGoSubscribe(node, (utipc_addr *)range, flags));
}

int utipc_next(int subscription, utipc_event *event, int timeout)
{
	return ENTER(utipcGoNext(subscription, event, timeout));
}

int utipc_fd(int handle) { return ENTER(utipcGoFD(handle)); }
