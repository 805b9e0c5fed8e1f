/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes over UDP on the loopback interface. */
#include <unistd.h>

#include "check.h"

void udp(void)
{
	char text[200];
	int n[2];
	utipc_addr name = utipc_service(9000, 1), from;
	uint32_t address;
	char b[8];

	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "udp:127.0.0.%d,127.0.0.%d?node=1.1.%d&netid=%d", 1 + i, 2 - i, 1 + i, 1 + (int)getpid() % 9999);
		n[i] = OK(utipc_open(text, SOON));
		OK(utipc_node_address(n[i], &address));
		CHECK(address == 0x1001001u + i);
	}
	OK(utipc_wait_nodes(n[0], 2, SOON));
	int s = OK(utipc_socket(n[1], SOCK_RDM, &name, NULL));

	OK(utipc_wait_name(n[0], &name, 1, SOON));
	OK(utipc_send(OK(utipc_socket(n[0], SOCK_RDM, NULL, NULL)), "hello", 5, &name, SOON));
	CHECK(OK(utipc_recv(s, b, sizeof b, NULL, SOON)) == 5);
	CHECK(OK(utipc_resolve(n[0], &name, &from, 1, SOON)) == 1 && from.node == 0x1001002);
	OK(utipc_close(n[0], SOON));
	OK(utipc_close(n[1], SOON));
}
