// SPDX-License-Identifier: Apache-2.0
//
// Connectionless sockets: each message in P has a record's header, and what is sent is a
// request to the daemon.
#include "plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	RETURNED = 1024, // bytes of a message that comes back
	IGNORED = MSG_EOR | MSG_OOB | MSG_ERRQUEUE | MSG_TRUNC,
};

static ssize_t fail(int e)
{
	errno = e;
	return -1;
}

uint64_t send_limit(int fd)
{
	struct timeval t = { 0 };
	socklen_t len = sizeof t;
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &t, &len);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

ssize_t message_send(int fd, const struct msghdr *m, size_t len, int flags)
{
	struct record q = { .op = OP_SEND }, r;
	if (len > MAX_MESSAGE)
		return fail(EMSGSIZE);
	if (m->msg_name != NULL) {
		if (bad_address(m->msg_name, m->msg_namelen) < 0)
			return -1;
		memcpy(&q.addr, m->msg_name, sizeof q.addr);
	}
	q.arg0 = (flags & MSG_DONTWAIT) != 0 || nonblocking(fd);
	if (q.arg0 == 0)
		q.wide = send_limit(fd);
	void *room;
	const void *all = gather(m, len, &room);
	if (all == NULL && len > 0)
		return -1;
	int rc = ask(&q, (struct payload){ all, len }, fd, &r, NULL, (struct iovec){ 0 }), e = errno;
	free(room);
	if (rc < 0)
		return fail(e == ENOTSOCK || e == EAFNOSUPPORT ? ENETDOWN : e); // another daemon, or none
	return (ssize_t)len;
}

// receive_into receives a message: its header and its data. It returns the length of the data.
static ssize_t receive_into(int fd, struct record *r, const struct iovec *v, size_t n, int flags, int *got)
{
	enum { FEW = 15 };
	struct iovec few[FEW + 1], *all = few;
	if (n > FEW && (all = malloc((n + 1) * sizeof *all)) == NULL)
		return fail(ENOMEM);
	all[0] = (struct iovec){ r, sizeof *r };
	if (n > 0)
		memcpy(all + 1, v, n * sizeof *v);
	struct msghdr k = { .msg_iov = all, .msg_iovlen = n + 1 };
	ssize_t rc = waiting_call(SYS_recvmsg, fd, &k, flags & ~IGNORED);
	int e = errno;
	if (all != few)
		free(all);
	*got = k.msg_flags;
	if (rc >= 0 && rc < (ssize_t)sizeof *r) // the daemon has ended
		return fail(ENETDOWN);
	errno = e == ECONNRESET ? ENETDOWN : e;
	return rc < 0 ? rc : rc - (ssize_t)sizeof *r;
}

// come_back receives a message of this socket that came back. The caller's buffer stays as it is.
static ssize_t come_back(int fd, struct msghdr *m, int flags)
{
	struct record r;
	char data[RETURNED];
	struct iovec v = { data, sizeof data };
	int got;
	ssize_t n = receive_into(fd, &r, &v, 1, flags, &got);
	if (n < 0)
		return n;
	struct control c = { m, 0 };
	uint32_t info[2] = { r.arg1, n };
	put_control(&c, TIPC_ERRINFO, info, sizeof info);
	if (n > 0)
		put_control(&c, TIPC_RETDATA, data, n);
	if (n > 0 && r.addr2.family == AF_TIPC)
		put_control(&c, TIPC_DESTNAME, &r.addr2.addr, 3 * sizeof(uint32_t));
	m->msg_controllen = c.used;
	if (m->msg_name != NULL) {
		socklen_t len = m->msg_namelen;
		give_address(&r.addr, m->msg_name, &len);
		m->msg_namelen = len;
	}
	return 0;
}

// Reads with MSG_EOR take a message in parts. What is read of it is the offset for peeking of the UNIX
// socket, which has no other use. Processes that never do so do not ask for it.
static int parts_used;

int parts(int fd, int flags)
{
	int off = -1;
	socklen_t len = sizeof off;
	if (flags & MSG_EOR)
		parts_used = 1;
	if (parts_used)
		syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &off, &len);
	return (flags & MSG_EOR) != 0 || off > 0 ? (off > 0 ? off : 0) : -1;
}

static void keep_part(int fd, int off) { syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof off); }

ssize_t receive_part(int fd, struct msghdr *k, int off, int head, int flags)
{
	size_t room = 0;
	for (size_t i = 0; i < (size_t)k->msg_iovlen; i++)
		room += k->msg_iov[i].iov_len;
	keep_part(fd, off > head ? off : head);
	ssize_t rest = waiting_call(SYS_recvmsg, fd, k, (flags & ~IGNORED) | MSG_PEEK | MSG_TRUNC);
	if (rest <= 0) {
		keep_part(fd, -1);
		return rest;
	}
	ssize_t n = (size_t)rest < room ? rest : (ssize_t)room;
	int last = n == rest;
	k->msg_flags = last && (flags & MSG_EOR) ? MSG_EOR : 0;
	if (!last && !(flags & MSG_EOR))
		k->msg_flags = MSG_TRUNC;
	if (flags & MSG_PEEK) {
		keep_part(fd, off > 0 ? off : -1);
	} else if (last || !(flags & MSG_EOR)) {
		keep_part(fd, -1);
		char byte;
		syscall(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL);
	} else {
		keep_part(fd, (off > head ? off : head) + (int)n);
	}
	return n;
}

// event returns the flags of an event of a group.
static int event(const struct record *r)
{
	enum { JOINED = 1, LEFT };
	switch (r->arg0 >> 8) {
	case JOINED:
		return MSG_OOB;
	case LEFT:
		return MSG_OOB | MSG_EOR;
	}
	return 0;
}

ssize_t message_receive(int fd, struct msghdr *m, int flags)
{
	struct record r;
	int got, off = parts(fd, flags);
	m->msg_flags = 0;
	if (m->msg_control != NULL && m->msg_controllen > 0) { // it matters whether a message came back
		if (receive_into(fd, &r, NULL, 0, flags | MSG_PEEK, &got) < 0)
			return -1;
		if (r.arg1 != 0)
			return come_back(fd, m, flags);
	}
	ssize_t n;
	if (off >= 0) {
		keep_part(fd, -1);
		if (receive_into(fd, &r, NULL, 0, (flags & MSG_DONTWAIT) | MSG_PEEK, &got) < 0)
			return -1;
		struct msghdr k = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
		n = receive_part(fd, &k, off, sizeof r, flags);
		got = k.msg_flags;
	} else {
		n = receive_into(fd, &r, m->msg_iov, m->msg_iovlen, flags, &got);
	}
	if (n < 0)
		return n;
	m->msg_flags = r.arg1 == 0 ? got & (MSG_TRUNC | MSG_EOR) : 0;
	m->msg_flags |= flags & MSG_CMSG_CLOEXEC;
	int member = r.addr2.addrtype == TIPC_SERVICE_ADDR && r.arg1 == 0;
	if (member)
		m->msg_flags |= event(&r);
	if (m->msg_name != NULL) {
		struct sockaddr_tipc both[2] = { r.addr, r.addr2 };
		socklen_t len = m->msg_namelen, all = member ? sizeof both : sizeof both[0];
		memcpy(m->msg_name, both, len < all ? len : all);
		m->msg_namelen = all;
	}
	struct control c = { m, 0 };
	if (m->msg_control != NULL && r.addr2.family == AF_TIPC && !member && r.arg1 == 0)
		put_control(&c, TIPC_DESTNAME, &r.addr2.addr, 3 * sizeof(uint32_t));
	m->msg_controllen = c.used;
	return r.arg1 != 0 ? 0 : n;
}

int message_count(int fd, int *bytes)
{
	enum { OVERHEAD = 768 };
	int n = 0, on = 0, off = -1, e = errno, got;
	struct record r;
	*bytes = 0;
	if (look_at(fd, NULL) != MESSAGES || syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &on, sizeof on) < 0)
		return 0;
	while (receive_into(fd, &r, NULL, 0, MSG_PEEK | MSG_DONTWAIT, &got) >= 0) {
		n++;
		*bytes += OVERHEAD + (int)r.len;
		// the next peek begins behind this message
		syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &on, &(socklen_t){ sizeof on });
		on += (int)r.len;
		syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &on, sizeof on);
	}
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof off);
	errno = e;
	return n;
}
