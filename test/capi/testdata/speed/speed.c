/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speed KIND COUNT   prints the microseconds of a message of 64 bytes there and back, between two
 * nodes in memory: "wait" in calls that wait, "poll" with poll(2) and calls that do not, "none" of a
 * call alone, which finds nothing to do.
 */
#include <pthread.h>
#include <time.h>

#include "../check.h"

#define SIZE 64

static int server;
static int polls;

static long receive(int socket, char *b, utipc_info *info)
{
	if (polls)
		CHECK(polling(&(struct pollfd){.fd = utipc_fd(socket), .events = POLLIN}, 1, SOON) == 1);
	return OK(utipc_recv(socket, b, SIZE, info, polls ? 0 : UTIPC_FOREVER));
}

static void *echo(void *arg)
{
	utipc_info info;
	char b[SIZE];

	for (long left = *(long *)arg; left > 0; left--)
		OK(utipc_send(server, b, receive(server, b, &info), &info.from, UTIPC_FOREVER));
	return NULL;
}

int main(int argc, char **argv)
{
	int here = OK(utipc_open("memory:", SOON)), there = OK(utipc_open("memory:", SOON)), s;
	utipc_addr name = utipc_service(9100, 1);
	long count = argc > 2 ? atol(argv[2]) : 0, warm = count / 10;
	long all = count + warm;
	struct timespec a, z;
	pthread_t t;
	char b[SIZE] = "";

	CHECK(argc == 3 && count > 0);
	polls = strcmp(argv[1], "poll") == 0;
	server = OK(utipc_socket(there, SOCK_RDM, &name, NULL));
	s = OK(utipc_socket(here, SOCK_RDM, NULL, NULL));
	OK(utipc_wait_name(here, &name, 1, SOON));
	OK(utipc_local(server, &name));
	if (strcmp(argv[1], "none") == 0) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (long i = 0; i < count; i++)
			CHECK(utipc_local(s, &name) == 0);
	} else {
		CHECK(pthread_create(&t, NULL, echo, &all) == 0);
		for (long i = -warm; i < count; i++) {
			if (i == 0)
				clock_gettime(CLOCK_MONOTONIC, &a);
			OK(utipc_send(s, b, SIZE, &name, UTIPC_FOREVER));
			CHECK(receive(s, b, NULL) == SIZE);
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &z);
	printf("%.4f\n", ((z.tv_sec - a.tv_sec) * 1e9 + (z.tv_nsec - a.tv_nsec)) / count / 1e3);
	return 0;
}
