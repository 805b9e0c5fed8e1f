// SPDX-License-Identifier: Apache-2.0
//
// Options of TCP sockets. Those of SOL_SOCKET are the UNIX socket's own. Of the others it keeps those that programs
// read back, in SO_MAX_PACING_RATE, which has no other use there; what is set is examined by the kernel, by a socket of
// its own, and has no effect.
#include "embedded.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

// A field is where an option is kept; 0 is what a new socket has.
struct field {
	int level, name;
	unsigned at, bits;
};

static const struct field fields[] = {
	{ IPPROTO_TCP, TCP_NODELAY, 0, 1 },	 { IPPROTO_TCP, TCP_CORK, 1, 1 },   { IPPROTO_IPV6, IPV6_V6ONLY, 2, 1 },
	{ IPPROTO_TCP, TCP_KEEPIDLE, 3, 15 },	 { IPPROTO_TCP, TCP_KEEPINTVL, 18, 15 }, { IPPROTO_TCP, TCP_KEEPCNT, 33, 7 },
	{ IPPROTO_IP, IP_TOS, 40, 8 },		 { IPPROTO_IPV6, IPV6_TCLASS, 48, 8 },
};

enum { FIELDS = sizeof fields / sizeof *fields };

static const struct field *field_of(int level, int name)
{
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].level == level && fields[i].name == name)
			return &fields[i];
	return NULL;
}

static uint64_t kept(int fd)
{
	unsigned long v = ~0UL;
	socklen_t len = sizeof v;
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_MAX_PACING_RATE, &v, &len);
	return ~v;
}

static void keep(int fd, uint64_t all)
{
	unsigned long v = ~all;
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_MAX_PACING_RATE, &v, sizeof v);
}

static uint64_t with(uint64_t all, const struct field *f, int v)
{
	uint64_t mask = (1ULL << f->bits) - 1;
	return (all & ~(mask << f->at)) | ((uint64_t)(unsigned)v & mask) << f->at;
}

// probe makes a socket of the kernel's to ask.
static int probe(int kind) { return syscall(SYS_socket, kind == KIND_TCP ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0); }

enum { BUFFER_LOCK = 72, SEND_LOCKED = 1, RECEIVE_LOCKED = 2 }; // SO_BUF_LOCK

// copy copies an option of SOL_SOCKET that is set.
static void copy(int from, int to, int name, size_t size)
{
	union {
		int number;
		struct linger linger;
		struct timeval time;
	} v;
	static const char zeros[sizeof v];
	socklen_t len = size;
	memset(&v, 0, sizeof v);
	if (syscall(SYS_getsockopt, from, SOL_SOCKET, name, &v, &len) == 0 && memcmp(&v, zeros, sizeof v) != 0)
		syscall(SYS_setsockopt, to, SOL_SOCKET, name, &v, len);
}

// copy_room copies the length of a buffer that the program has set: the kernel doubles what is set.
static void copy_room(int from, int to, int name)
{
	int v = 0;
	socklen_t len = sizeof v;
	if (syscall(SYS_getsockopt, from, SOL_SOCKET, name, &v, &len) == 0) {
		v /= 2;
		syscall(SYS_setsockopt, to, SOL_SOCKET, name, &v, sizeof v);
	}
}

void keep_options(int from, int to)
{
	static const int numbers[] = { SO_REUSEADDR, SO_KEEPALIVE, SO_OOBINLINE, SO_PRIORITY };
	struct name own;
	int e = errno, locks = 0;
	socklen_t len = sizeof locks;
	if (!own_name(to, NULL) && embedded_of(to) == NULL) { // the kernel's own
		errno = e;
		return;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		copy(from, to, numbers[i], sizeof(int));
	copy(from, to, SO_LINGER, sizeof(struct linger));
	copy(from, to, SO_RCVTIMEO, sizeof(struct timeval));
	copy(from, to, SO_SNDTIMEO, sizeof(struct timeval));
	if (syscall(SYS_getsockopt, from, SOL_SOCKET, BUFFER_LOCK, &locks, &len) < 0)
		locks = 0;
	int plain = own_name(from, &own);
	if ((locks & SEND_LOCKED) && !plain) // a plain socket's are locked by the daemon
		copy_room(from, to, SO_SNDBUF);
	if ((locks & RECEIVE_LOCKED) && !plain)
		copy_room(from, to, SO_RCVBUF);
	uint64_t all = plain ? kept(from) : 0;
	for (int i = 0; !plain && i < FIELDS; i++) {
		int v = 0;
		len = sizeof v;
		if (syscall(SYS_getsockopt, from, fields[i].level, fields[i].name, &v, &len) == 0)
			all = with(all, &fields[i], v);
	}
	if (all != 0)
		keep(to, all);
	errno = e;
}

int tcp_setsockopt(int fd, const struct name *own, int level, int name, const void *value, socklen_t len)
{
	enum { SIGNED = 14, SIGNED_PREFIX = 32, AUTHENTIC = 38, AUTHENTIC_LAST = 43 }; // TCP_MD5SIG, TCP_MD5SIG_EXT, TCP_AO_*
	if (level == SOL_SOCKET) {
		if (name == SO_MAX_PACING_RATE)
			return 0;
		return syscall(SYS_setsockopt, fd, level, name, value, len);
	}
	if (level == IPPROTO_TCP && (name == SIGNED || name == SIGNED_PREFIX || (name >= AUTHENTIC && name <= AUTHENTIC_LAST))) {
		errno = ENOPROTOOPT; // nothing is signed
		return -1;
	}
	int kernel = probe(own->kind), v = 0;
	if (kernel < 0)
		return -1;
	int rc = syscall(SYS_setsockopt, kernel, level, name, value, len), e = errno;
	const struct field *f = field_of(level, name);
	socklen_t size = sizeof v;
	if (rc == 0 && f != NULL && syscall(SYS_getsockopt, kernel, level, name, &v, &size) == 0)
		keep(fd, with(kept(fd), f, v));
	syscall(SYS_close, kernel);
	errno = e;
	return rc;
}

// of_socket answers the options of SOL_SOCKET that are not the UNIX socket's.
static int of_socket(int fd, const struct name *own, int name, int *v)
{
	struct record r;
	switch (name) {
	case SO_DOMAIN:
		*v = own->kind == KIND_TCP ? AF_INET : AF_INET6;
		return 1;
	case SO_PROTOCOL:
		*v = IPPROTO_TCP;
		return 1;
	case SO_ACCEPTCONN:
		*v = look_at(fd, NULL) == TCP_IDLE && simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.arg0 == STATE_LISTENING;
		return 1;
	case SO_MAX_PACING_RATE:
		*v = -1;
		return 1;
	case SO_ERROR:
		*v = hung_up(fd) ? tcp_error(fd) : 0;
		return 1;
	}
	return 0;
}

int tcp_getsockopt(int fd, const struct name *own, int level, int name, void *value, socklen_t *len)
{
	int v = 0;
	const struct field *f = field_of(level, name);
	uint64_t all = kept(fd);
	if (level == SOL_SOCKET) {
		if (!of_socket(fd, own, name, &v))
			return syscall(SYS_getsockopt, fd, level, name, value, len);
	} else if (f != NULL && (v = (int)(all >> f->at & ((1ULL << f->bits) - 1))) != 0) {
		;
	} else {
		int kernel = probe(own->kind);
		if (kernel < 0)
			return -1;
		int rc = syscall(SYS_getsockopt, kernel, level, name, value, len), e = errno;
		syscall(SYS_close, kernel);
		if (rc == 0 && level == IPPROTO_TCP && name == TCP_INFO && *len > 0 && (look_at(fd, NULL) == TCP_CONNECTED || embedded_of(fd) != NULL))
			*(unsigned char *)value = TCP_ESTABLISHED;
		errno = e;
		return rc;
	}
	if (!readable(len, sizeof *len))
		return -1;
	if (*len > INT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (*len > sizeof v)
		*len = sizeof v;
	if (*len > 0 && !readable(value, *len))
		return -1;
	memcpy(value, &v, *len);
	return 0;
}
