/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of libutipc share: checks that end the program, and a test's registration. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utipc.h>

/* SOON is a timeout for what has to come; a test that meets it has failed. */
#define SOON 60000

#define CHECK(cond)                                                                             \
	do {                                                                                    \
		if (!(cond)) {                                                                  \
			fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__,       \
				__LINE__, #cond, utipc_last_error());                           \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

/* OK is the result of a call that must not fail. */
#define OK(call) ok((call), #call, __FILE__, __LINE__)

/* FAILS is a call that must fail with an errno, and a sentence. */
#define FAILS(want, call) fails((want), (call), #call, __FILE__, __LINE__)

static inline long ok(long got, const char *call, const char *file, int line)
{
	if (got < 0) {
		fprintf(stderr, "%s:%d: %s: %ld: %s\n", file, line, call, got, utipc_last_error());
		exit(1);
	}
	return got;
}

static inline void fails(int want, long got, const char *call, const char *file, int line)
{
	if (got != -want || utipc_last_error()[0] == 0) {
		fprintf(stderr, "%s:%d: %s: got %ld, \"%s\", want %d, %s, and a sentence\n", file, line, call, got,
			utipc_last_error(), -want, utipc_strerror(want));
		exit(1);
	}
}

/* polling is poll(2) that goes on after a signal, as those of Go's runtime. */
static inline int polling(struct pollfd *fds, nfds_t count, int timeout)
{
	int got;

	do
		got = poll(fds, count, timeout);
	while (got < 0 && errno == EINTR);
	return got;
}

/* A test, by its name on the command line. */
struct test {
	const char *name;
	void (*run)(void);
};

void handles(void), nulls(void), texts(void), sizes(void);
void messages(void), returned(void), multicast(void), names(void), subscription(void), call(void);
void stream(void), packets(void), halfclose(void), backlog(void), timeouts(void);
void group(void), slow(void);
void pollmany(void), pollexact(void), pollstream(void), pollclose(void), polllisten(void), pollevents(void);
void udp(void), threads(void), oneforall(void), forked(void), forkedraw(void), memory(void), closing(void);

/* node is a node on the network of this process, or what $NODE says. */
int node(void);
