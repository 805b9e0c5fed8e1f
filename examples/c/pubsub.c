/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pubsub publishes readings to all who have asked for a topic, and waits for everything with one
 * poll(2): two subscribers of topics, and the names of the publisher, which say when it is gone.
 *
 *	cc pubsub.c $(pkg-config --cflags --libs utipc) && ./a.out
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <utipc.h>

enum { READINGS = 19000, PUBLISHER = 19001 }; /* types of service; the instance is the topic */
enum { CELLAR, ATTIC, GONE };

static int must(long result)
{
	if (result < 0) {
		fprintf(stderr, "%s\n", utipc_last_error());
		exit(1);
	}
	return result;
}

int main(void)
{
	int node = must(utipc_open("memory:?node=1", UTIPC_FOREVER)), other = must(utipc_open("memory:?node=2", UTIPC_FOREVER));
	utipc_addr publisher = utipc_service(PUBLISHER, 0), all = utipc_range(READINGS, 0, 99), topic;
	int handles[3], left = 1;
	struct pollfd fds[3];

	for (int i = CELLAR; i <= ATTIC; i++) {
		topic = utipc_service(READINGS, i);
		handles[i] = must(utipc_socket(node, SOCK_RDM, &topic, NULL));
	}
	handles[GONE] = must(utipc_subscribe(node, &publisher, 0));
	for (int i = 0; i < 3; i++)
		fds[i] = (struct pollfd){.fd = must(utipc_fd(handles[i])), .events = POLLIN};

	/* The publisher, elsewhere: a reading for each topic, one for all, and an end. */
	int source = must(utipc_socket(other, SOCK_RDM, &publisher, NULL));
	must(utipc_wait_name(other, &all, 2, 5000));
	topic = utipc_range(READINGS, CELLAR, CELLAR);
	must(utipc_send(source, "12 degrees", 10, &topic, UTIPC_FOREVER));
	must(utipc_send(source, "power cut", 9, &all, UTIPC_FOREVER));

	for (int readings = 0; left;) {
		if (poll(fds, 3, -1) < 0) /* EINTR: a signal, for instance of the library's own threads */
			continue;
		for (int i = CELLAR; i <= ATTIC; i++) {
			char b[100];
			int n;

			if (!fds[i].revents)
				continue;
			n = must(utipc_recv(handles[i], b, sizeof b, NULL, 0));
			printf("%s: %.*s\n", i == CELLAR ? "cellar" : "attic", n, b);
			if (++readings == 3)
				must(utipc_close(source, 0));
		}
		if (fds[GONE].revents) {
			utipc_event e;

			must(utipc_next(handles[GONE], &e, 0));
			printf("the publisher is %s\n", e.kind == UTIPC_PUBLISHED ? "there" : "gone");
			left = e.kind == UTIPC_PUBLISHED;
		}
	}
	must(utipc_close(other, 5000));
	must(utipc_close(node, 5000));
	return 0;
}
