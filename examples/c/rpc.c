/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rpc calls a service by name: three workers in threads have the name, and calls go to them in turn.
 * A call of a service that nobody has fails at once.
 *
 *	cc rpc.c $(pkg-config --cflags --libs utipc) -lpthread && ./a.out
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <utipc.h>

enum { SQUARE = 20000, WORKERS = 3, CALLS = 30 };

static int must(long result)
{
	if (result < 0) {
		fprintf(stderr, "%s\n", utipc_last_error());
		exit(1);
	}
	return result;
}

/* work answers requests until its socket is closed. */
static void *work(void *arg)
{
	int socket = *(int *)arg;
	utipc_info info;
	uint64_t x;

	while (utipc_recv(socket, &x, sizeof x, &info, UTIPC_FOREVER) == sizeof x) {
		x *= x;
		must(utipc_send(socket, &x, sizeof x, &info.from, UTIPC_FOREVER));
	}
	return NULL;
}

int main(void)
{
	int node = must(utipc_open("memory:?node=1", UTIPC_FOREVER)), other = must(utipc_open("memory:?node=2", UTIPC_FOREVER));
	utipc_addr square = utipc_service(SQUARE, 0), nobody = utipc_service(SQUARE, 1);
	int sockets[WORKERS];
	pthread_t threads[WORKERS];
	uint64_t sum = 0, y;

	for (int i = 0; i < WORKERS; i++) {
		sockets[i] = must(utipc_socket(other, SOCK_RDM, &square, NULL));
		pthread_create(&threads[i], NULL, work, &sockets[i]);
	}
	must(utipc_wait_name(node, &square, WORKERS, 5000));
	for (uint64_t x = 1; x <= CALLS; x++) {
		must(utipc_call(node, &square, &x, sizeof x, &y, sizeof y, NULL, 5000));
		sum += y;
	}
	printf("the sum of %d squares is %lu\n", CALLS, (unsigned long)sum);

	int failed = utipc_call(node, &nobody, &sum, sizeof sum, &y, sizeof y, NULL, 5000);
	printf("a service that nobody has: %s\n", failed == -EHOSTUNREACH ? "unreachable" : utipc_last_error());

	must(utipc_close(node, 5000));
	must(utipc_close(other, 5000)); /* ends the workers */
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
