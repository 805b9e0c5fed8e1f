// SPDX-License-Identifier: Apache-2.0
//
// The calls that send and receive. Of a connection they are the kernel's, but for what comes
// after its end.
#include "embedded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What a descriptor is, and its peer if that is CONNECTED: a call asks once.
struct found {
	enum look is;
	struct name peer;
};

static struct found find(int fd)
{
	struct found f;
	f.is = look_at(fd, &f.peer);
	return f;
}

// fail sets errno.
static ssize_t fail(int e)
{
	errno = e;
	return -1;
}

const void *gather(const struct msghdr *m, size_t len, void **room)
{
	*room = NULL;
	if (m->msg_iovlen == 1)
		return m->msg_iov[0].iov_base;
	char *all = *room = malloc(len + 1);
	if (all == NULL || len == 0)
		return all;
	struct iovec to = { all, len };
	ssize_t k = syscall(SYS_process_vm_readv, getpid(), &to, 1, m->msg_iov, m->msg_iovlen, 0); // it fails where memcpy would end the program
	int bad = k >= 0 ? (size_t)k < len : errno == EFAULT;
	for (size_t i = 0, n = 0; k < 0 && !bad && i < (size_t)m->msg_iovlen; i++) { // where the call is not allowed
		struct iovec v = m->msg_iov[i];
		bad = v.iov_len > 0 && !readable(v.iov_base, v.iov_len);
		if (!bad)
			memcpy(all + n, v.iov_base, v.iov_len);
		n += v.iov_len;
	}
	if (bad) {
		free(all);
		*room = NULL;
		errno = EFAULT;
		return NULL;
	}
	return all;
}

// unconnected_send is what a send on a socket without a peer comes to: with an address it connects.
static ssize_t unconnected_send(int fd, const struct msghdr *m, size_t len, int flags)
{
	struct record q = { .op = OP_CONNECT }, r;
	if (hung_up(fd)) // it ended, the daemon may know that later
		return fail(EPIPE);
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return -1;
	if (r.arg0 == STATE_ENDED)
		return fail(EPIPE);
	if (r.arg0 != STATE_OPEN || m->msg_name == NULL)
		return fail(ENOTCONN);
	if (m->msg_namelen < sizeof q.addr)
		return fail(EINVAL);
	if (len > MAX_MESSAGE)
		return fail(EMSGSIZE);
	memcpy(&q.addr, m->msg_name, sizeof q.addr);
	void *room;
	const void *all = gather(m, len, &room);
	if (all == NULL)
		return -1;
	q.arg0 = (flags & MSG_DONTWAIT) != 0 || nonblocking(fd);
	q.arg1 = raise_barrier(fd);
	if (len > 0 && syscall(SYS_sendto, fd, all, len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) == (ssize_t)len)
		q.arg0 |= FOLLOWS;
	mark_first(fd, 1);
	if ((q.arg0 & 1) == 0)
		q.wide = send_limit(fd);
	int rc = ask(&q, (struct payload){ all, len }, fd, &r, NULL, (struct iovec){ 0 }), e = errno;
	free(room);
	if (rc < 0 && (e == ETIMEDOUT || e == ECONNREFUSED)) { // the message is under way
		if (e == ECONNREFUSED)
			simple((struct record){ .op = OP_STATE }, fd, &r); // SO_ERROR is 0
		return (ssize_t)len;
	}
	if (rc < 0 && e != EINPROGRESS)
		return fail(e);
	return (ssize_t)len;
}

// sent maps the error of a connection that has ended.
static ssize_t sent(ssize_t rc)
{
	if (rc < 0 && (errno == ECONNRESET || errno == ENOTCONN || errno == ECONNREFUSED))
		errno = EPIPE;
	return rc;
}

// refuse_send sends what is no message of a seqpacket, of which it returns -1, and returns 0 of a descriptor that is the
// kernel's.
static int refuse_send(int fd, struct found f, const struct msghdr *m, size_t len, int flags, ssize_t *rc)
{
	if (netlink_used && netlink_send(fd, m, len, flags, rc))
		return 1;
	switch (f.is) {
	case FOREIGN:
	case NETLINK:
		return 0;
	case EMBEDDED:
		*rc = embedded_send(fd, embedded_of(fd), m, flags);
		return 1;
	case TCP_CONNECTED:
	case TCP_IDLE:
		*rc = tcp_send(fd, f.is, m, flags);
		return 1;
	case MESSAGES:
		*rc = message_send(fd, m, len, flags);
		return 1;
	case UNCONNECTED:
		*rc = unconnected_send(fd, m, len, flags);
		return 1;
	case CONNECTED:
		break;
	}
	*rc = 0;
	if (f.peer.kind == SOCK_STREAM && len > 0)
		*rc = sent(mark_send(fd, m, (flags & MSG_DONTWAIT) | MSG_NOSIGNAL));
	else if (len > MAX_MESSAGE)
		*rc = fail(EMSGSIZE);
	else if (len > 0)
		return -1;
	else if (hung_up(fd))
		*rc = fail(EPIPE);
	return 1;
}

static size_t length(const struct iovec *v, size_t n)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i].iov_len;
	return sum;
}

static ssize_t send_to(int fd, struct found f, const void *b, size_t n, int flags, const struct sockaddr *a, socklen_t len)
{
	struct iovec v = { (void *)(uintptr_t)b, n };
	struct msghdr m = { .msg_name = (void *)(uintptr_t)a, .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t rc;
	switch (refuse_send(fd, f, &m, n, flags, &rc)) {
	case 0:
		return waiting_call(SYS_sendto, fd, b, n, flags, a, len);
	case 1:
		return rc;
	}
	return sent(waiting_call(SYS_sendto, fd, b, n, (flags & MSG_DONTWAIT) | MSG_NOSIGNAL, NULL, 0));
}

EXPORT ssize_t sendto(int fd, const void *b, size_t n, int flags, const struct sockaddr *a, socklen_t len) { return send_to(fd, find(fd), b, n, flags, a, len); }

EXPORT ssize_t send(int fd, const void *b, size_t n, int flags) { return sendto(fd, b, n, flags, NULL, 0); }

// header_readable reports whether a header and the list of its parts may be read.
static int header_readable(const struct msghdr *m)
{
	enum { PARTS = 1024 };
	return readable(m, sizeof *m) && (size_t)m->msg_iovlen <= PARTS &&
	       (m->msg_iovlen == 0 || readable(m->msg_iov, m->msg_iovlen * sizeof *m->msg_iov));
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	ssize_t rc;
	if (!plain_calls() || !header_readable(m)) // a bad pointer is the kernel's
		return waiting_call(SYS_sendmsg, fd, m, flags);
	if (passes_embedded(m))
		return fail(EOPNOTSUPP); // the node is this process's alone
	switch (refuse_send(fd, find(fd), m, length(m->msg_iov, m->msg_iovlen), flags, &rc)) {
	case 0:
		return waiting_call(SYS_sendmsg, fd, m, flags);
	case 1:
		return rc;
	}
	struct msghdr own = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	return sent(waiting_call(SYS_sendmsg, fd, &own, (flags & MSG_DONTWAIT) | MSG_NOSIGNAL));
}

EXPORT int sendmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags)
{
	if (look_at(fd, NULL) == FOREIGN && !takes_netlink(fd))
		return waiting_call(SYS_sendmmsg, fd, m, n, flags);
	for (unsigned int i = 0; i < n; i++) {
		ssize_t rc = sendmsg(fd, &m[i].msg_hdr, flags);
		if (rc < 0)
			return i > 0 ? (int)i : -1;
		m[i].msg_len = rc;
	}
	return n;
}

EXPORT ssize_t write(int fd, const void *b, size_t n)
{
	struct found f = find(fd);
	if (f.is == FOREIGN && !takes_netlink(fd))
		return waiting_call(SYS_write, fd, b, n);
	return send_to(fd, f, b, n, 0, NULL, 0);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
	if (look_at(fd, NULL) == FOREIGN && !takes_netlink(fd))
		return waiting_call(SYS_writev, fd, v, n);
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = n };
	return sendmsg(fd, &m, 0);
}

void put_control(struct control *c, int type, const void *data, size_t len)
{
	size_t room = c->m->msg_control != NULL ? c->m->msg_controllen - c->used : 0, want = CMSG_LEN(len);
	if (room < want)
		c->m->msg_flags |= MSG_CTRUNC;
	if (room < sizeof(struct cmsghdr))
		return;
	struct cmsghdr *h = (void *)((char *)c->m->msg_control + c->used);
	h->cmsg_level = SOL_TIPC;
	h->cmsg_type = type;
	h->cmsg_len = room < want ? room : want;
	memcpy(CMSG_DATA(h), data, h->cmsg_len - CMSG_LEN(0));
	c->used += room < CMSG_SPACE(len) ? room : CMSG_SPACE(len);
}

// wait_readable waits as the descriptor and the flags have it; 0: it may be read.
static int wait_readable(int fd, int flags)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timeval t = { 0 };
	socklen_t len = sizeof t;
	if ((flags & MSG_DONTWAIT) != 0 || nonblocking(fd))
		return fail(EAGAIN);
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &t, &len);
	struct timespec limit = { t.tv_sec, t.tv_usec * 1000 };
	int n = waiting_call(SYS_ppoll, &p, 1, t.tv_sec != 0 || t.tv_usec != 0 ? &limit : NULL, NULL, 0);
	if (n == 0)
		return fail(EAGAIN);
	return n < 0 ? -1 : 0;
}

// wait_end waits at the end of a connection that was read, for as long as SO_RCVTIMEO says, without that
// not at all.
static int wait_end(int fd, int flags)
{
	struct timeval t = { 0 };
	socklen_t len = sizeof t;
	if ((flags & MSG_DONTWAIT) != 0 || nonblocking(fd))
		return fail(EAGAIN);
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &t, &len);
	if (t.tv_sec == 0 && t.tv_usec == 0)
		return 0;
	struct timespec limit = { t.tv_sec, t.tv_usec * 1000 };
	waiting_call(SYS_ppoll, NULL, 0, &limit, NULL, 0);
	return fail(EAGAIN);
}

// What came back of a request that was refused: the range that it was sent to, then its data.
struct returned {
	uint32_t name[3];
	char data[1024];
};

// ended is what a read comes to on a connection that has ended.
static ssize_t ended(int fd, struct msghdr *m, const struct name *peer, int flags)
{
	int control = m->msg_control != NULL && m->msg_controllen > 0;
	struct record q = { .op = OP_STATE, .arg0 = flags & MSG_PEEK ? 0 : control ? READ_CONTROL : READ }, r;
	uint32_t info[2] = { 0 };
	struct returned back;
	m->msg_flags = 0;
	if (ask(&q, (struct payload){ 0 }, fd, &r, NULL, (struct iovec){ &back, sizeof back }) < 0)
		return fail(errno == ENOTSOCK || errno == EAFNOSUPPORT ? ENETDOWN : errno); // another daemon, or none
	if (r.arg0 != STATE_ENDED) { // the peer sends no more, and reads on
		m->msg_namelen = 0;
		m->msg_controllen = 0;
		return 0;
	}
	info[0] = r.wide;
	if (r.arg1 != 0 && r.arg1 != ECONNRESET)
		return fail((int)r.arg1);
	if (info[0] == 0) // it was shut down here
		return fail((flags & MSG_DONTWAIT) != 0 || nonblocking(fd) ? EAGAIN : ENOTCONN);
	if (r.wide >> 32 != 0) { // as with a kernel, the end is read once; who waits has it again
		if (wait_end(fd, flags) < 0)
			return -1;
		m->msg_namelen = 0;
		m->msg_controllen = 0;
		return 0;
	}
	if (info[0] != TIPC_CONN_SHUTDOWN && !control)
		return fail(ECONNRESET);
	struct control c = { m, 0 };
	if (r.len > sizeof back.name)
		info[1] = r.len - sizeof back.name;
	put_control(&c, TIPC_ERRINFO, info, sizeof info);
	if (info[1] > 0)
		put_control(&c, TIPC_RETDATA, back.data, info[1]);
	if (info[1] > 0 && back.name[0] != 0) {
		for (int i = 0; i < 3; i++)
			back.name[i] = ntohl(back.name[i]);
		put_control(&c, TIPC_DESTNAME, back.name, sizeof back.name);
	}
	m->msg_controllen = c.used;
	socklen_t len = m->msg_namelen;
	const struct sockaddr_tipc *from = peer != NULL ? &peer->addr : &r.addr2;
	if (from->family == AF_TIPC && m->msg_name != NULL)
		give_address(from, m->msg_name, &len);
	else
		len = 0;
	m->msg_namelen = len;
	return 0;
}

// unconnected_receive is what a read comes to on a socket without a peer; 0: there is one now.
static int unconnected_receive(int fd, int flags)
{
	struct record r;
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return -1;
	switch (r.arg0) {
	case STATE_OPEN:
		return fail(ENOTCONN);
	case STATE_ENDED:
		return r.arg1 != 0 ? fail((int)r.arg1) : 0;
	}
	return wait_readable(fd, flags);
}

// answerable reports whether there is memory for the address and the control data of a message.
static int answerable(const struct msghdr *m, size_t room)
{
	enum { CONTROL = 2048, NAMES = 2 * sizeof(struct sockaddr_tipc) }; // the longest
	size_t name = m->msg_name != NULL ? m->msg_namelen : 0;
	room = m->msg_control != NULL ? room : 0;
	return (name == 0 || readable(m->msg_name, name < NAMES ? name : NAMES)) &&
	       (room == 0 || readable(m->msg_control, room < CONTROL ? room : CONTROL));
}

// look_for_data looks for data of a connection that a read may wait for.
static void look_for_data(int fd, int flags)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	look_first((flags & MSG_DONTWAIT) == 0 && !nonblocking(fd), SYS_ppoll, &p, 1, &(struct timespec){ 0 }, NULL, 0);
}

static ssize_t receive(int fd, struct found f, struct msghdr *m, int flags)
{
	struct name own;
	size_t room = m->msg_controllen;
	struct embedded *x = f.is == EMBEDDED ? embedded_of(fd) : NULL;
	if (x != NULL)
		return embedded_receive(fd, x, m, flags);
	if (f.is == NETLINK)
		return netlink_receive(fd, m, flags);
	if (f.is == TCP_CONNECTED || f.is == CONNECTED)
		look_for_data(fd, flags);
	if (f.is == TCP_CONNECTED || f.is == TCP_IDLE)
		return tcp_receive(fd, f.is, m, flags);
	if (length(m->msg_iov, m->msg_iovlen) == 0)
		return fail(EINVAL);
	if (!answerable(m, room))
		return -1;
	while (f.is == UNCONNECTED) {
		if (unconnected_receive(fd, flags) < 0)
			return -1;
		if (hung_up(fd))
			return ended(fd, m, NULL, flags);
		f = find(fd);
	}
	if (f.is == MESSAGES)
		return message_receive(fd, m, flags);
	struct msghdr k = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	int off = f.peer.kind == SOCK_STREAM ? -1 : parts(fd, flags);
	ssize_t n = off >= 0 ? receive_part(fd, &k, off, 0, flags) :
			       waiting_call(SYS_recvmsg, fd, &k, flags & ~(MSG_EOR | MSG_OOB | MSG_ERRQUEUE | MSG_TRUNC));
	if (n < 0 && errno == ECONNRESET) // the peer closed, with something unread; what it wrote before comes first
		n = waiting_call(SYS_recvmsg, fd, &k, flags & ~(MSG_EOR | MSG_OOB | MSG_ERRQUEUE | MSG_TRUNC));
	m->msg_flags = (k.msg_flags & (MSG_TRUNC | MSG_EOR)) | (flags & MSG_CMSG_CLOEXEC);
	if (n > 1 && (flags & MSG_PEEK) != 0 && f.peer.kind == SOCK_STREAM)
		n = mark_peek(fd, &k, n);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return ended(fd, m, &f.peer, flags);
	if (n < 0)
		return n;
	if (m->msg_name != NULL) {
		socklen_t len = m->msg_namelen;
		give_address(&f.peer.addr, m->msg_name, &len);
		m->msg_namelen = len;
	}
	if (m->msg_control != NULL) {
		struct control c = { m, 0 };
		m->msg_controllen = room;
		if (f.peer.named || (own_name(fd, &own) && own.named)) {
			const uint32_t *s = f.peer.named ? f.peer.service : own.service;
			uint32_t name[3] = { s[0], s[1], s[1] };
			put_control(&c, TIPC_DESTNAME, name, sizeof name);
		}
		m->msg_controllen = c.used;
	}
	return n;
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct found f = find(fd);
	if (f.is != FOREIGN && header_readable(m)) // a bad pointer is the kernel's
		return receive(fd, f, m, flags);
	ssize_t n = waiting_call(SYS_recvmsg, fd, m, flags);
	if (n >= 0 && m->msg_controllen > 0)
		plain_active = 1; // a plain socket may have come
	return n;
}

enum { SECOND = 1000000000 }; // in nanoseconds

// left_of is what is left of a timeout that began at a time.
static struct timespec left_of(struct timespec timeout, struct timespec begun)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	timeout.tv_sec -= now.tv_sec - begun.tv_sec;
	timeout.tv_nsec -= now.tv_nsec - begun.tv_nsec;
	if (timeout.tv_nsec < 0) {
		timeout.tv_nsec += SECOND;
		timeout.tv_sec--;
	} else if (timeout.tv_nsec >= SECOND) {
		timeout.tv_nsec -= SECOND;
		timeout.tv_sec++;
	}
	return timeout.tv_sec < 0 ? (struct timespec){ 0 } : timeout;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags, struct timespec *timeout)
{
	struct timespec begun, left = { 0 };
	struct found f = find(fd);
	if (f.is == FOREIGN)
		return waiting_call(SYS_recvmmsg, fd, m, n, flags, timeout);
	if (timeout != NULL && !readable(timeout, sizeof *timeout))
		return -1;
	if (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= SECOND))
		return fail(EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	unsigned int i = 0;
	while (i < n) {
		struct msghdr *h = &m[i].msg_hdr;
		ssize_t rc = readable(&m[i], sizeof m[i]) && header_readable(h) ? receive(fd, i > 0 ? find(fd) : f, h, i > 0 && (flags & MSG_WAITFORONE) ? flags | MSG_DONTWAIT : flags) : fail(EFAULT);
		if (rc < 0 && i == 0)
			return -1;
		if (rc < 0)
			break;
		m[i++].msg_len = rc;
		if (timeout != NULL) // as with a kernel, it is looked at after each message alone
			left = left_of(*timeout, begun);
		if ((h->msg_flags & MSG_OOB) != 0 || (timeout != NULL && left.tv_sec == 0 && left.tv_nsec == 0))
			break;
	}
	if (timeout != NULL && i > 0)
		*timeout = left;
	return i;
}

static ssize_t receive_from(int fd, struct found f, void *b, size_t n, int flags, struct sockaddr *a, socklen_t *len)
{
	struct iovec v = { b, n };
	struct msghdr m = { .msg_name = a, .msg_namelen = a != NULL && len != NULL ? *len : 0, .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t rc = receive(fd, f, &m, flags);
	if (a != NULL && len != NULL && rc >= 0)
		*len = m.msg_namelen;
	return rc;
}

EXPORT ssize_t recvfrom(int fd, void *restrict b, size_t n, int flags, struct sockaddr *restrict a, socklen_t *restrict len)
{
	struct found f = find(fd);
	return f.is == FOREIGN ? waiting_call(SYS_recvfrom, fd, b, n, flags, a, len) : receive_from(fd, f, b, n, flags, a, len);
}

EXPORT ssize_t recv(int fd, void *b, size_t n, int flags) { return recvfrom(fd, b, n, flags, NULL, NULL); }

EXPORT ssize_t read(int fd, void *b, size_t n)
{
	struct found f = find(fd);
	if (f.is == FOREIGN)
		return waiting_call(SYS_read, fd, b, n);
	return n > 0 ? receive_from(fd, f, b, n, 0, NULL, NULL) : 0;
}

EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
	struct found f = find(fd);
	if (f.is == FOREIGN || n < 0)
		return waiting_call(SYS_readv, fd, v, n);
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = n };
	return header_readable(&m) ? receive(fd, f, &m, 0) : waiting_call(SYS_readv, fd, v, n);
}

// The names that calls have with _FORTIFY_SOURCE.
ssize_t __read_chk(int fd, void *b, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *b, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict b, size_t n, size_t room, int flags, struct sockaddr *restrict a, socklen_t *restrict len);

EXPORT ssize_t __read_chk(int fd, void *b, size_t n, size_t room)
{
	if (n > room)
		abort();
	return read(fd, b, n);
}

EXPORT ssize_t __recv_chk(int fd, void *b, size_t n, size_t room, int flags)
{
	if (n > room)
		abort();
	return recv(fd, b, n, flags);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *restrict b, size_t n, size_t room, int flags, struct sockaddr *restrict a, socklen_t *restrict len)
{
	if (n > room)
		abort();
	return recvfrom(fd, b, n, flags, a, len);
}
