// SPDX-License-Identifier: Apache-2.0
//
// Data of TCP connections. It is the kernel's own, of a UNIX stream, but for how errors are told.
#include "tcp.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

int tcp_error(int fd)
{
	struct record r;
	int e = errno, error = 0;
	socklen_t len = sizeof error;
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &len); // of what the other end had unread
	if (simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.arg1 != 0)
		error = (int)r.arg1;
	errno = e;
	return error;
}

// idle_state is STATE_CONNECTING of a socket that has no peer and may come to have one.
static int idle_state(int fd, int *error)
{
	struct record r;
	*error = 0;
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return STATE_ENDED;
	*error = (int)r.arg1;
	return (int)r.arg0;
}

ssize_t tcp_broken(int flags)
{
	if ((flags & MSG_NOSIGNAL) == 0)
		pthread_kill(pthread_self(), SIGPIPE);
	errno = EPIPE;
	return -1;
}

ssize_t tcp_send(int fd, enum look is, const struct msghdr *m, int flags)
{
	int error;
	if (flags & MSG_OOB) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (is == TCP_IDLE) {
		int state = idle_state(fd, &error);
		if (error != 0) {
			errno = error;
			return -1;
		}
		if (state != STATE_CONNECTING && state != STATE_CONNECTED)
			return tcp_broken(flags);
	}
	struct msghdr own = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	ssize_t n = waiting_call(SYS_sendmsg, fd, &own, (flags & (MSG_DONTWAIT | MSG_MORE)) | MSG_NOSIGNAL);
	if (n >= 0 || (errno != EPIPE && errno != ECONNRESET))
		return n;
	int reset = errno == ECONNRESET;
	if ((error = tcp_error(fd)) == 0 && !reset)
		return tcp_broken(flags);
	errno = error != 0 ? error : ECONNRESET;
	return -1;
}

ssize_t tcp_receive(int fd, enum look is, struct msghdr *m, int flags)
{
	int error;
	if (flags & (MSG_OOB | MSG_ERRQUEUE)) {
		errno = flags & MSG_OOB ? EINVAL : EAGAIN;
		return -1;
	}
	if (is == TCP_IDLE) {
		int state = idle_state(fd, &error);
		if (state != STATE_CONNECTING && state != STATE_CONNECTED) {
			errno = error != 0 ? error : ENOTCONN;
			return -1;
		}
	}
	struct msghdr own = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	size_t room = 0;
	for (size_t i = 0; i < m->msg_iovlen; i++)
		room += m->msg_iov[i].iov_len;
	ssize_t n = waiting_call(SYS_recvmsg, fd, &own, flags & (MSG_DONTWAIT | MSG_PEEK | MSG_WAITALL));
	if (n > 0 || (n < 0 && errno != ECONNRESET) || (n == 0 && (room == 0 || !hung_up(fd)))) {
		m->msg_namelen = 0;
		m->msg_controllen = 0;
		m->msg_flags = 0;
		return n;
	}
	if ((error = tcp_error(fd)) == 0 && n == 0)
		return m->msg_namelen = m->msg_controllen = m->msg_flags = 0;
	errno = error != 0 ? error : ECONNRESET;
	return -1;
}
