/* SPDX-License-Identifier: Apache-2.0 */

/* ask makes a socket, and asks two things of it. */
#include <stdio.h>
#include <sys/socket.h>

#include <linux/tipc.h>

int main(void)
{
	int value = 2, s = socket(AF_TIPC, SOCK_RDM, 0);
	socklen_t len = sizeof value;
	if (s < 0)
		perror("socket");
	else if (setsockopt(s, SOL_TIPC, TIPC_IMPORTANCE, &value, len) < 0)
		perror("setsockopt");
	else if (getsockopt(s, SOL_TIPC, TIPC_IMPORTANCE, &value, &len) < 0)
		perror("getsockopt");
	else
		printf("%d\n", value);
	return 0;
}
