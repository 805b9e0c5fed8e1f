// SPDX-License-Identifier: Apache-2.0
//
// Requests to the daemon.
#include "plain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

// What the environment said when the program was started: programs may clear it.
static char *first_socket, *first_tcp;

__attribute__((constructor)) static void remember(void)
{
	const char *socket = secure_getenv("UTIPC_SOCKET"), *tcp = secure_getenv("UTIPC_TCP");
	first_socket = socket != NULL ? strdup(socket) : NULL;
	first_tcp = tcp != NULL ? strdup(tcp) : NULL;
}

const char *tcp_variable(void)
{
	const char *now = secure_getenv("UTIPC_TCP");
	return now != NULL ? now : first_tcp;
}

static int connect_daemon(void)
{
	static const char usual[] = "/run/utipc/utipc.sock";
	const char *path = secure_getenv("UTIPC_SOCKET");
	if (path == NULL)
		path = first_socket;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (path == NULL || *path == 0)
		path = usual;
	size_t n = strlen(path);
	if (n >= sizeof a.sun_path) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	memcpy(a.sun_path, path, n);
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + n;
	if (*path == '@')
		a.sun_path[0] = 0;
	else
		len++;
	int c = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (c < 0)
		return -1;
	int rc;
	do
		rc = syscall(SYS_connect, c, &a, len);
	while (rc < 0 && errno == EINTR);
	if (rc < 0) {
		if (secure_getenv("UTIPC_PRELOAD_DEBUG") != NULL)
			dprintf(2, "utipc: no daemon at %s: %s\n", path, strerror(errno));
		syscall(SYS_close, c);
		errno = EAFNOSUPPORT;
		return -1;
	}
	return c;
}

enum { UNREAD = -2 };

// unread is the result for a request that the daemon has not read.
static int unread(void)
{
	errno = ENETDOWN;
	return UNREAD;
}

static int receive(int c, struct record *r, int *got, struct iovec buf)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec v[2] = { { r, sizeof *r }, buf };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control };
	ssize_t k = syscall(SYS_recvmsg, c, &m, MSG_CMSG_CLOEXEC);
	if (k < 0 && errno == ECONNRESET)
		return unread();
	if (k < 0)
		return -1;
	int fd = -1;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (h != NULL && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(h), sizeof fd);
	if (k < (ssize_t)sizeof *r || r->error != 0) {
		if (fd >= 0)
			syscall(SYS_close, fd);
		errno = k < (ssize_t)sizeof *r ? ENETDOWN : (int)r->error;
		return -1;
	}
	if (got != NULL)
		*got = fd;
	else if (fd >= 0)
		syscall(SYS_close, fd);
	return 0;
}

// request makes a request. UNREAD: nobody will read it.
static int request(int c, const struct record *q, struct payload p, int pass)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct record head = *q;
	struct iovec v[2] = { { &head, sizeof head }, { (void *)(uintptr_t)p.data, p.len } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = p.len > 0 ? 2 : 1 };
	head.id = 1;
	head.len = p.len;
	if (pass >= 0) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int));
		memset(&control, 0, sizeof control);
		control.h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.h), &pass, sizeof pass);
	}
	ssize_t k;
	do
		k = syscall(SYS_sendmsg, c, &m, MSG_NOSIGNAL);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		return errno == EPIPE || errno == ECONNRESET ? unread() : -1;
	return 0;
}

// await_end waits until the daemon has closed a connection, and with it its own copy of the descriptor that came.
// Else a socket that is closed at once would have another descriptor for a moment.
static void await_end(int c)
{
	char byte;
	ssize_t k;
	do
		k = syscall(SYS_recvfrom, c, &byte, sizeof byte, 0, NULL, NULL);
	while (k > 0 || (k < 0 && errno == EINTR));
}

int ask_on(int c, const struct record *q, struct payload p, int pass, struct record *r, int *got, struct iovec buf)
{
	int rc = request(c, q, p, pass);
	if (rc < 0)
		return rc;
	do
		rc = receive(c, r, got, buf);
	while (rc < 0 && errno == EINTR && q->op != OP_CONNECT);
	if (rc == 0 && got != NULL && *got >= 0)
		await_end(c);
	return rc;
}

int ask(const struct record *q, struct payload p, int pass, struct record *r, int *got, struct iovec buf)
{
	int rc = 0, tries = 2; // the daemon gives up a connection that says nothing for long: of a process that was stopped, for example
	do {
		int c = connect_daemon();
		if (c < 0) {
			errno = rc == UNREAD ? ENETDOWN : errno;
			return -1;
		}
		rc = ask_on(c, q, p, pass, r, got, buf);
		int e = errno;
		syscall(SYS_close, c);
		errno = e;
	} while (rc == UNREAD && --tries > 0);
	return rc;
}

int close_unread(int fd)
{
	struct record q = { .op = OP_CLOSED }, r;
	int c = connect_daemon();
	if (c >= 0 && request(c, &q, (struct payload){ 0 }, fd) < 0) {
		syscall(SYS_close, c);
		c = -1;
	}
	int rc = waiting_call(SYS_close, fd), e = errno;
	if (c >= 0) {
		syscall(SYS_shutdown, c, SHUT_WR); // there is no descriptor left here
		receive(c, &r, NULL, (struct iovec){ 0 });
		syscall(SYS_close, c);
	}
	errno = e;
	return rc;
}

int simple(struct record q, int fd, struct record *r)
{
	struct record answer;
	return ask(&q, (struct payload){ 0 }, fd, r != NULL ? r : &answer, NULL, (struct iovec){ 0 });
}
