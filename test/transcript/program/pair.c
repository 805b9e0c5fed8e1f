/* SPDX-License-Identifier: Apache-2.0 */

/* socketpair. */
#include "sections.h"

void pair_section(void)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		int type = types[i];
		bool stream = type == SOCK_STREAM || type == SOCK_SEQPACKET;
		note("type %s", type_text(type));
		int b, a = Socketpair(type, &b);
		Getsockname(a);
		Getsockname(b);
		Getpeername(a);
		Getpeername(b);
		Ready(a);
		Ready(b);
		Send(a, "there", 0);
		Ready(b);
		Recvmsg(b, 100, 0, 4096);
		Write(b, "and back");
		Recvmsg(a, 100, 0, 4096);
		Connect(a, own_address(b));
		Listen(a, 1);
		Bind(a, service(POINTER_TYPE, 90));
		Send(a, "unread", 0);
		Close(b);
		Ready(a);
		Recvmsg(a, 100, MSG_DONTWAIT, 4096);
		Recvmsg(a, 100, MSG_DONTWAIT, 4096);
		Send(a, "x", 0);
		Getpeername(a);
		Ready(a);
		Close(a);
		a = Socketpair(type, &b);
		Shutdown(a, SHUT_RDWR);
		Ready(a);
		Ready(b);
		if (stream)
			Recv(b, 10, 0);
		Recv(b, 10, MSG_DONTWAIT);
		Send(b, "x", 0);
		Close(a);
		Close(b);
	}
}
