// SPDX-License-Identifier: Apache-2.0
//
// libutipc, and the table of descriptors.
#include "embedded.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library embedded_library;
int embedded_used;
struct embedded *embedded_table[EMBEDDED_MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the table's changes, and of what follows
static int opened;                                       // 1; -1: it failed
static int forked;                                       // this is a child of the process that has the node
static pid_t owner;                                      // that process
static uint32_t address;
static void *file; // libutipc

static void in_child(void)
{
	forked = opened != 0;
	pthread_mutex_init(&lock, NULL);
}

int embedded_borrowed(void) { return embedded_used && !forked && getpid() != owner; }

uint32_t embedded_address(void) { return address; }

// load fills in the functions of the library, and returns what is wrong, or NULL.
static const char *load(void)
{
	static const struct {
		const char *name;
		size_t at;
	} all[] = {
		{ "open", offsetof(struct library, open) },	    { "finish", offsetof(struct library, finish) },
		{ "listen", offsetof(struct library, listen) },	    { "accept", offsetof(struct library, accept) },
		{ "connect", offsetof(struct library, connect) },   { "poll", offsetof(struct library, poll) },
		{ "arm", offsetof(struct library, arm) },	    { "disarm", offsetof(struct library, disarm) },
		{ "send", offsetof(struct library, send) },	    { "recv", offsetof(struct library, recv) },
		{ "error", offsetof(struct library, error) },	    { "shutdown", offsetof(struct library, shutdown) },
		{ "close", offsetof(struct library, close) },	    { "counters", offsetof(struct library, counters) },
	};
	const char *path = secure_getenv("UTIPC_LIBRARY");
	file = dlopen(path != NULL ? path : "libutipc.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (file == NULL)
		return dlerror();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char name[64];
		snprintf(name, sizeof name, "utipc_embedded_%s", all[i].name);
		void *f = dlsym(file, name);
		if (f == NULL)
			return dlerror();
		memcpy((char *)&embedded_library + all[i].at, &f, sizeof f);
	}
	return NULL;
}

// open_node opens the node, and returns an errno.
static int open_node(const char *text)
{
	const char *wrong = load();
	if (wrong != NULL) {
		dprintf(2, "utipc: no node in the process: %s\n", wrong);
		return ENOPKG;
	}
	int rc = embedded_library.open(text, &address);
	if (rc == 0) {
		owner = getpid();
		pthread_atfork(NULL, NULL, in_child);
		return 0;
	}
	const char *(*why)(void) = NULL;
	void *f = dlsym(file, "utipc_last_error");
	memcpy(&why, &f, sizeof f);
	dprintf(2, "utipc: no node in the process: %s\n", why != NULL ? why() : strerror(-rc));
	return -rc;
}

int embedded_node(void)
{
	static const char scheme[] = "embedded:";
	static int failure;
	const char *text = secure_getenv("UTIPC_NODE");
	if (forked || text == NULL || strncmp(text, scheme, sizeof scheme - 1) != 0)
		return 0;
	pthread_mutex_lock(&lock);
	if (opened == 0) {
		failure = open_node(text);
		opened = failure == 0 ? 1 : -1;
	}
	pthread_mutex_unlock(&lock);
	if (opened > 0)
		return 1;
	errno = failure;
	return -1;
}

void embedded_ready(const int32_t *handles, uint16_t *ready, int n, int turn)
{
	if (embedded_library.poll(handles, ready, n, turn) < 0)
		for (int i = 0; i < n; i++)
			ready[i] = POLLERR | POLLHUP;
}

int embedded_put(int fd, struct embedded *x)
{
	if (fd < 0 || fd >= EMBEDDED_MOST) {
		errno = EMFILE;
		return -1;
	}
	pthread_mutex_lock(&lock);
	x->refs++;
	embedded_table[fd] = x;
	embedded_used = plain_active = 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

struct embedded *embedded_take(int fd)
{
	if (embedded_any(fd) == NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	struct embedded *x = embedded_table[fd];
	embedded_table[fd] = NULL;
	if (x != NULL && --x->refs > 0)
		x = NULL;
	pthread_mutex_unlock(&lock);
	return x;
}

enum { LAST_WORDS = 2000 }; // ms for what was sent to arrive when the program ends

__attribute__((destructor)) static void finish(void)
{
	struct utipc_embedded_counters c;
	if (opened <= 0 || forked || embedded_library.counters(&c) < 0)
		return;
	if (secure_getenv("UTIPC_PRELOAD_DEBUG") != NULL)
		dprintf(2, "utipc: node %x had %llu connections, %llu bytes in, %llu out\n", address, (unsigned long long)c.connections,
			(unsigned long long)c.in, (unsigned long long)c.out);
	for (int fd = 0; embedded_used && fd < EMBEDDED_MOST; fd++) {
		struct embedded *x = embedded_take(fd);
		if (x != NULL)
			embedded_library.close(x->handle, 0);
	}
	embedded_library.finish(LAST_WORDS);
}
