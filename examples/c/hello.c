/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hello is the program of the README in C: two nodes, and a message to a name.
 *
 *	cc hello.c $(pkg-config --cflags --libs utipc) && ./a.out
 */
#include <stdio.h>
#include <stdlib.h>
#include <utipc.h>

/* must ends the program where a call has failed. */
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
	int here = must(utipc_open("memory:?node=1", UTIPC_FOREVER)); /* elsewhere "udp:10.0.0.1", "eth:eth1", "attach:" */
	int there = must(utipc_open("memory:?node=2", UTIPC_FOREVER));

	utipc_addr name = utipc_service(18888, 17);
	int server = must(utipc_socket(there, SOCK_RDM, &name, NULL)); /* has the name 18888:17 */
	must(utipc_wait_name(here, &name, 1, 5000));                    /* until a socket anywhere has it */

	int client = must(utipc_socket(here, SOCK_RDM, NULL, NULL));
	must(utipc_send(client, "what time is it?", 16, &name, UTIPC_FOREVER));

	char b[100];
	utipc_info info;
	int n = must(utipc_recv(server, b, sizeof b, &info, UTIPC_FOREVER));
	printf("node %x asks: %.*s\n", info.from.node, n, b);

	must(utipc_close(here, 5000));
	must(utipc_close(there, 5000));
	return 0;
}
