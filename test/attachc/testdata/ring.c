/* SPDX-License-Identifier: Apache-2.0
 *
 * ring PATH TYPE INSTANCE BYTES: connects to a service through the daemon at PATH, asks
 * for a ring, writes BYTES bytes of a stream and reads them back from who echoes them.
 * Written after docs/reference/attach.md alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/tipc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 1, SOCKET = 16, CONNECT = 36, SHUTDOWN = 37, RING = 42, SEND = 64, MESSAGE = 65, REPLY = 1 };
enum { MOST = 66000 };

struct record {
	uint16_t op, flags;
	uint32_t error, id, len;
	struct sockaddr_tipc addr, addr2;
	uint32_t arg0, arg1;
	uint64_t wide;
};
_Static_assert(sizeof(struct record) == 64, "the header has 64 bytes");
_Static_assert(sizeof(struct sockaddr_tipc) == 16, "an address has 16 bytes");

struct way {
	volatile uint32_t *head, *tail, *hungry, *cramped;
	unsigned char *mem;
};

static int fd;
static uint32_t size;
static struct way out, in;
static int ringing; /* records go through the ring */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t load(volatile uint32_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static void store(volatile uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
static uint32_t span(uint32_t n) { return (64 + n + 63) & ~63u; }

static void bell(volatile uint32_t *flag)
{
	if (load(flag) && __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST))
		send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int room(uint32_t n) { return size - (load(out.head) - load(out.tail)) >= span(n); }

static int ring_put(const struct record *r, const void *p)
{
	uint32_t head = load(out.head), at = head & (size - 1), first;

	if (!room(r->len))
		return 0;
	memcpy(out.mem + at, r, 64);
	at = (at + 64) & (size - 1);
	first = r->len < size - at ? r->len : size - at;
	memcpy(out.mem + at, p, first);
	memcpy(out.mem, (const char *)p + first, r->len - first);
	store(out.head, head + span(r->len));
	bell(out.hungry);
	return 1;
}

static int ring_get(struct record *r, unsigned char *p)
{
	uint32_t tail = load(in.tail), used = load(in.head) - tail, at = tail & (size - 1), first;

	if (used == 0)
		return 0;
	if (used > size || used % 64)
		errno = EPROTO, fail("ring");
	memcpy(r, in.mem + at, 64);
	if (r->len > MOST || span(r->len) > used)
		errno = EPROTO, fail("ring");
	at = (at + 64) & (size - 1);
	first = r->len < size - at ? r->len : size - at;
	memcpy(p, in.mem + at, first);
	memcpy(p + first, in.mem, r->len - first);
	store(in.tail, tail + span(r->len));
	if (used - span(r->len) <= size / 2)
		bell(in.cramped);
	return 1;
}

/* doze sleeps until a bell, unless there is something to do for who asks. */
static void doze(uint32_t want)
{
	char c[2];

	store(in.hungry, 1);
	if (want)
		store(out.cramped, 1);
	if (load(in.head) == load(in.tail) && !(want && room(want)))
		if (recv(fd, c, sizeof c, 0) != 1)
			errno = EPIPE, fail("bell");
	store(in.hungry, 0);
	store(out.cramped, 0);
}

static int ask(struct record *r, const void *p, size_t n, int *got)
{
	union { struct cmsghdr h; char b[CMSG_SPACE(sizeof(int))]; } c;
	static unsigned char data[MOST];
	struct iovec v[2] = { { r, 64 }, { (void *)p, n } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	int op = r->op;

	r->id = 1;
	r->len = n;
	if (ringing) {
		while (!ring_put(r, p))
			doze(n + 1);
		do
			while (!ring_get(r, data))
				doze(0);
		while (!(r->flags & REPLY));
		return r->error ? (errno = r->error, -1) : 0;
	}
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		return -1;
	v[1] = (struct iovec){ data, sizeof data };
	if (got) {
		m.msg_control = &c;
		m.msg_controllen = CMSG_LEN(sizeof(int));
	}
	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) < 64 || r->op != op || !(r->flags & REPLY))
		return errno = EPROTO, -1;
	if (got && CMSG_FIRSTHDR(&m))
		memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return r->error ? (errno = r->error, -1) : 0;
}

static struct way way(unsigned char *mem, size_t at, size_t begin)
{
	return (struct way){ (void *)(mem + at), (void *)(mem + at + 128), (void *)(mem + at + 256), (void *)(mem + at + 384), mem + begin };
}

static void map(int memfd, uint32_t n)
{
	int want = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	unsigned char *mem;
	struct stat st;

	size = n;
	if (fstat(memfd, &st) < 0 || st.st_size != 4096 + 2 * (off_t)n || (fcntl(memfd, F_GET_SEALS) & want) != want)
		errno = EPROTO, fail("descriptor");
	mem = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (mem == MAP_FAILED)
		fail("mmap");
	close(memfd);
	if (((uint32_t *)mem)[0] != 0x52505455 || ((uint32_t *)mem)[1] != 1 || ((uint32_t *)mem)[2] != n)
		errno = EPROTO, fail("memory");
	out = way(mem, 1024, 4096);
	in = way(mem, 2048, 4096 + n);
	ringing = 1;
}

int main(int argc, char **argv)
{
	static unsigned char data[MOST];
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	struct record r;
	unsigned long total, put = 0, got = 0;
	int memfd = -1;

	if (argc != 5)
		return 2;
	total = strtoul(argv[4], NULL, 10);
	strncpy(path.sun_path, argv[1], sizeof path.sun_path - 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&path, sizeof path) < 0)
		fail("connect");
	r = (struct record){ .op = HELLO, .arg0 = 0x43505455, .arg1 = 1, .wide = 1 };
	if (ask(&r, "ring", 4, NULL) < 0 || !(r.wide & 1))
		fail("hello");
	r = (struct record){ .op = SOCKET, .arg0 = 1 };
	if (ask(&r, NULL, 0, NULL) < 0)
		fail("socket");
	r = (struct record){ .op = RING, .arg0 = 128 << 10 };
	if (ask(&r, NULL, 0, &memfd) < 0 || memfd < 0)
		fail("ring");
	map(memfd, r.arg0);
	r = (struct record){ .op = CONNECT, .addr = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR,
		.addr.name.name = { strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10) } } };
	if (ask(&r, NULL, 0, NULL) < 0)
		fail("connect to the service");

	while (got < total) {
		uint32_t n = 1 + put * 7919 % MOST, k;
		int did = 0;

		if (n > total - put)
			n = total - put;
		if (n > 0) {
			for (k = 0; k < n; k++)
				data[k] = (put + k) * 31 >> 3;
			r = (struct record){ .op = SEND, .len = n };
			if (ring_put(&r, data))
				put += n, did = 1;
		}
		if (ring_get(&r, data)) {
			did = 1;
			if (r.op != MESSAGE) {
				fprintf(stderr, "op %d, error %u\n", r.op, r.error);
				return 1;
			}
			for (k = 0; k < r.len; k++)
				if (data[k] != (unsigned char)((got + k) * 31 >> 3))
					return fprintf(stderr, "byte %lu is wrong\n", got + k), 1;
			got += r.len;
		}
		if (!did)
			doze(n);
	}
	r = (struct record){ .op = SHUTDOWN };
	if (ask(&r, NULL, 0, NULL) < 0)
		fail("shutdown");
	printf("%lu bytes\n", got);
	return 0;
}
