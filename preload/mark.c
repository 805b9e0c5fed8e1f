// SPDX-License-Identifier: Apache-2.0
//
// Where a message of a stream ends. MSG_PEEK of TIPC shows the first message alone, and that is what comes back of
// unread data; and the first sends go out one by one. A UNIX stream has no messages, but of each send it knows whether
// credentials came with it, and a read with SO_PASSCRED ends where that changes. So every other send of a socket
// passes this process's own credentials, and who wants a message by itself sets SO_PASSCRED for the time of
// the read. The daemon does the same at its end, see daemon/plain/cuts.go.
//
// Credentials that come with nobody asking for them cost a reader nothing, and no other read ends there.
#include "plain.h"

#include <errno.h>
#include <string.h>

// The number of sends, modulo 2, by descriptor. It is a hint: two descriptors that share one, or copies of a socket in two
// processes, may give two messages in a row the same mark, and these look like one.
enum { HINTS = 1024 };
static _Atomic unsigned char sends[HINTS];

void mark_first(int fd, int sent) { sends[fd % HINTS] = (unsigned char)sent; }

ssize_t mark_send(int fd, const struct msghdr *m, int flags)
{
	struct msghdr own = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	if ((sends[fd % HINTS] ^= 1) == 0) {
		struct ucred self = { getpid(), getuid(), getgid() };
		union {
			struct cmsghdr h;
			char room[CMSG_SPACE(sizeof self)];
		} c = { .h = { .cmsg_len = CMSG_LEN(sizeof self), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS } };
		memcpy(CMSG_DATA(&c.h), &self, sizeof self);
		own.msg_control = &c;
		own.msg_controllen = sizeof c;
		ssize_t n = waiting_call(SYS_sendmsg, fd, &own, flags);
		if (n >= 0 || (errno != EPERM && errno != EINVAL && errno != ESRCH)) // refused, it goes without
			return n;
		own.msg_control = NULL;
		own.msg_controllen = 0;
	}
	return waiting_call(SYS_sendmsg, fd, &own, flags);
}

ssize_t mark_peek(int fd, struct msghdr *k, ssize_t n)
{
	int on = 1, before = 0, e = errno;
	socklen_t len = sizeof before;
	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PASSCRED, &before, &len) < 0 ||
	    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
		return n;
	ssize_t first = syscall(SYS_recvmsg, fd, k, MSG_PEEK | MSG_DONTWAIT);
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, &before, sizeof before);
	errno = e;
	return first > 0 ? first : n; // another thread has read it
}
