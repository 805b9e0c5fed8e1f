// SPDX-License-Identifier: Apache-2.0
//
// What a program finds with the supervisor or with the library: several messages in a call, ancillary data, and pointers that are not
// its own.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/tipc.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct several {
	struct msghdr h;
	unsigned int len;
};

enum { SERVICE = 18890, MOST = 4, ROOM = 20 };

static char data[MOST][ROOM];
static struct iovec parts[MOST];
static char control[256];
static int library; // a UNIX socket loses a message that there is no memory for
static void *const nowhere = (void *)16;

static struct mmsghdr *messages(struct several *m, int n, const char *text)
{
	for (int i = 0; i < n; i++) {
		memset(data[i], 0, ROOM);
		strcpy(data[i], text);
		parts[i] = (struct iovec){ data[i], *text != 0 ? strlen(text) - i : ROOM };
		m[i] = (struct several){ .h = { .msg_iov = &parts[i], .msg_iovlen = 1 }, .len = 99 };
	}
	return (void *)m;
}

static struct sockaddr_tipc service(unsigned int instance)
{
	struct sockaddr_tipc a = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR, .scope = TIPC_NODE_SCOPE };
	a.addr.name.name.type = SERVICE;
	a.addr.name.name.instance = instance;
	return a;
}

// send_some puts n messages of "abcd", "abc" and so on in a socket.
static void send_some(int fd, int n)
{
	struct several m[MOST];
	IS(sendmmsg(fd, messages(m, n, "abcd"), n, 0), n);
	for (int i = 0; i < n; i++)
		IS(m[i].len, 4 - i);
}

static void of_several(int type)
{
	int p[2];
	struct several m[MOST];
	struct timespec t = { 3600, 0 };
	IS(socketpair(AF_TIPC, type, 0, p), 0);
	IS(sendmmsg(p[0], messages(m, 1, "x"), 0, 0), 0);
	send_some(p[0], 3);
	IS(recvmmsg(p[1], messages(m, 4, ""), 4, MSG_DONTWAIT, NULL), 3);
	for (int i = 0; i < 3; i++) {
		IS(m[i].len, 4 - i);
		IS(strncmp(data[i], "abcd", 4 - i), 0);
	}
	IS(m[3].len, 99);
	FAILS(recvmmsg(p[1], messages(m, 2, ""), 2, MSG_DONTWAIT, NULL), EAGAIN);

	send_some(p[0], 1);
	IS(recvmmsg(p[1], messages(m, 2, ""), 2, MSG_WAITFORONE, NULL), 1);

	send_some(p[0], 2);
	t = (struct timespec){ 0, 0 };
	IS(recvmmsg(p[1], messages(m, 2, ""), 2, 0, &t), 1); // it is over after the first
	t = (struct timespec){ 3600, 0 };
	IS(recvmmsg(p[1], messages(m, 1, ""), 1, 0, &t), 1);
	IS(t.tv_sec, 3599);
	t = (struct timespec){ 0, 1000000000 };
	FAILS(recvmmsg(p[1], messages(m, 1, ""), 1, MSG_DONTWAIT, &t), EINVAL);
	FAILS(recvmmsg(p[1], messages(m, 1, ""), 1, MSG_DONTWAIT, nowhere), EFAULT);

	messages(m, 3, "abcd");
	m[1].h.msg_iov = nowhere;
	IS(sendmmsg(p[0], (void *)m, 3, 0), 1); // the others are not sent
	IS(m[0].len, 4);
	IS(m[1].len, 99);
	FAILS(sendmmsg(p[0], (void *)&m[1], 2, 0), EFAULT);
	FAILS(sendmmsg(p[0], nowhere, 2, 0), EFAULT);
	messages(m, 2, "");
	m[1].h.msg_iov = nowhere;
	IS(recvmmsg(p[1], (void *)m, 2, MSG_DONTWAIT, NULL), 1);
	FAILS(recvmmsg(p[1], nowhere, 2, MSG_DONTWAIT, NULL), EFAULT);
	close(p[0]);
	close(p[1]);
}

static void of_destinations(void)
{
	int s = socket(AF_TIPC, SOCK_RDM, 0);
	struct sockaddr_tipc a = service(1), none = service(2);
	struct several m[MOST];
	IS(bind(s, (void *)&a, sizeof a), 0);
	messages(m, 3, "abcd");
	for (int i = 0; i < 3; i++) {
		m[i].h.msg_name = i == 1 ? &none : &a;
		m[i].h.msg_namelen = sizeof a;
	}
	IS(sendmmsg(s, (void *)m, 3, 0), 1);
	FAILS(sendmmsg(s, (void *)&m[1], 2, 0), EHOSTUNREACH);
	IS(recvmmsg(s, messages(m, 2, ""), 2, MSG_DONTWAIT, NULL), 1);
	close(s);
}

// An event of a group ends a call before its other messages come.
static void of_events(void)
{
	int s = socket(AF_TIPC, SOCK_RDM, 0), other = socket(AF_TIPC, SOCK_RDM, 0);
	struct tipc_group_req g = { .type = SERVICE + 1, .instance = 1, .scope = TIPC_NODE_SCOPE, .flags = TIPC_GROUP_MEMBER_EVTS };
	struct several m[MOST];
	IS(setsockopt(s, SOL_TIPC, TIPC_GROUP_JOIN, &g, sizeof g), 0);
	IS(setsockopt(other, SOL_TIPC, TIPC_GROUP_JOIN, &g, sizeof g), 0);
	IS(send(other, "x", 1, 0), 1);
	IS(recvmmsg(s, messages(m, 2, ""), 2, 0, NULL), 1);
	IS(m[0].h.msg_flags & MSG_OOB, MSG_OOB);
	IS(recvmmsg(s, messages(m, 1, ""), 1, 0, NULL), 1);
	IS(m[0].len, 1);
	close(other);
	close(s);
}

static struct msghdr *header(struct several *m, size_t room)
{
	messages(m, 1, "");
	memset(control, 0, sizeof control);
	m->h.msg_control = control;
	m->h.msg_controllen = room;
	return &m->h;
}

// is_control checks the control data: one after the other, a type and n words, or -n bytes.
static struct cmsghdr *is_control(int line, struct msghdr *h, struct cmsghdr *at, int type, int n, const void *want)
{
	at = at == NULL ? CMSG_FIRSTHDR(h) : CMSG_NXTHDR(h, at);
	check(line, "there is control data", at != NULL, 1);
	if (at == NULL)
		return at;
	size_t len = n < 0 ? -n : 4 * n;
	check(line, "level", at->cmsg_level, SOL_TIPC);
	check(line, "type", at->cmsg_type, type);
	check(line, "length", at->cmsg_len, CMSG_LEN(len));
	check(line, "data", memcmp(CMSG_DATA(at), want, len), 0);
	return at;
}

static void of_control(void)
{
	int s = socket(AF_TIPC, SOCK_RDM, 0), off = 0;
	struct sockaddr_tipc a = service(3), gone = { .family = AF_TIPC, .addrtype = TIPC_SOCKET_ADDR };
	struct several m;
	struct cmsghdr *c;
	socklen_t len = sizeof gone;
	IS(bind(s, (void *)&a, sizeof a), 0);
	IS(sendto(s, "named", 5, 0, (void *)&a, sizeof a), 5);
	IS(recvmsg(s, header(&m, sizeof control), 0), 5);
	is_control(__LINE__, &m.h, NULL, TIPC_DESTNAME, 3, (int[]){ SERVICE, 3, 3 });

	IS(sendto(s, "named", 5, 0, (void *)&a, sizeof a), 5);
	IS(recvmsg(s, header(&m, CMSG_LEN(8)), 0), 5); // there is no room for the last word
	IS(m.h.msg_flags & MSG_CTRUNC, MSG_CTRUNC);
	IS(m.h.msg_controllen, CMSG_LEN(8));

	IS(getsockname(s, (void *)&gone, &len), 0);
	gone.addr.id.ref ^= 0x40000000; // there is no such port
	IS(setsockopt(s, SOL_TIPC, TIPC_DEST_DROPPABLE, &off, sizeof off), 0);
	IS(sendto(s, "back", 4, 0, (void *)&gone, sizeof gone), 4);
	IS(recvmsg(s, header(&m, sizeof control), 0), 0);
	c = is_control(__LINE__, &m.h, NULL, TIPC_ERRINFO, 2, (int[]){ TIPC_ERR_NO_PORT, 4 });
	is_control(__LINE__, &m.h, c, TIPC_RETDATA, -4, "back");
	IS(sendto(s, "back", 4, 0, (void *)&gone, sizeof gone), 4);
	IS(recvmsg(s, header(&m, 0), 0), 0);
	IS(m.h.msg_flags, 0);
	close(s);
}

static void of_connections(int type)
{
	int l = socket(AF_TIPC, type, 0), c = socket(AF_TIPC, type, 0);
	struct sockaddr_tipc a = service(4);
	struct several m;
	IS(bind(l, (void *)&a, sizeof a), 0);
	IS(listen(l, 5), 0);
	IS(sendto(c, "first", 5, MSG_DONTWAIT, (void *)&a, sizeof a), 5);
	int s = accept(l, NULL, NULL);
	IS(recvmsg(s, header(&m, sizeof control), 0), 5);
	is_control(__LINE__, &m.h, NULL, TIPC_DESTNAME, 3, (int[]){ SERVICE, 4, 4 });

	header(&m, CMSG_SPACE(sizeof(int))); // descriptors are none of TIPC
	memset(control, 0xff, CMSG_SPACE(sizeof(int))); // nor looked at: there is no -1
	strcpy(data[0], "with");
	*CMSG_FIRSTHDR(&m.h) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	parts[0].iov_len = 4;
	IS(sendmsg(s, &m.h, 0), 4);
	IS(recvmsg(c, header(&m, sizeof control), 0), 4);
	is_control(__LINE__, &m.h, NULL, TIPC_DESTNAME, 3, (int[]){ SERVICE, 4, 4 });
	IS(m.h.msg_controllen, CMSG_SPACE(12));

	IS(shutdown(s, SHUT_RDWR), 0);
	IS(recvmsg(c, header(&m, sizeof control), 0), 0);
	is_control(__LINE__, &m.h, NULL, TIPC_ERRINFO, 2, (int[]){ TIPC_CONN_SHUTDOWN, 0 });
	close(s);
	close(c);
	close(l);
}

static void of_pointers(int type)
{
	int p[2];
	struct several m;
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	IS(mprotect(page + 4096, 4096, PROT_NONE), 0);
	char *constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	IS(socketpair(AF_TIPC, type, 0, p), 0);
	FAILS(sendmsg(p[0], nowhere, 0), EFAULT);
	FAILS(recvmsg(p[0], nowhere, MSG_DONTWAIT), EFAULT);
	FAILS(send(p[0], page + 4092, 8, 0), EFAULT);
	header(&m, 0);
	m.h.msg_iov = nowhere;
	FAILS(sendmsg(p[0], &m.h, 0), EFAULT);
	FAILS(recvmsg(p[0], &m.h, MSG_DONTWAIT), EFAULT);
	struct iovec two[2] = { { page, 1 }, { nowhere, 3 } };
	m.h.msg_iov = two;
	m.h.msg_iovlen = 2;
	FAILS(sendmsg(p[0], &m.h, 0), EFAULT);
	m.h.msg_iov = (void *)(page + 4096 - sizeof *two); // the second is not there
	FAILS(sendmsg(p[0], &m.h, 0), EFAULT);
	m.h.msg_iovlen = 1;
	IS(send(p[0], "whole", 5, 0), 5);
	for (int i = 0; i < 3; i++) { // what cannot be stored stays, with the supervisor
		header(&m, 0);
		parts[0] = (struct iovec){ i == 0 ? nowhere : page + 4096 - i, ROOM };
		FAILS(recvmsg(p[1], &m.h, MSG_DONTWAIT), EFAULT);
		if (library && type != SOCK_STREAM)
			IS(send(p[0], "whole", 5, 0), 5);
	}
	parts[0].iov_base = page + 4091; // there is memory for what has come
	IS(recvmsg(p[1], &m.h, MSG_DONTWAIT), 5);
	IS(memcmp(page + 4091, "whole", 5), 0);
	IS(send(p[0], "lost", 4, 0), 4);
	parts[0].iov_base = constant;
	FAILS(recvmsg(p[1], &m.h, MSG_DONTWAIT), EFAULT);
	if (library) { // it looks at these pointers first
		IS(send(p[0], "whole", 5, 0), 5);
		header(&m, 16);
		m.h.msg_control = nowhere;
		FAILS(recvmsg(p[1], &m.h, MSG_DONTWAIT), EFAULT);
		header(&m, 0);
		m.h.msg_name = nowhere;
		m.h.msg_namelen = 16;
		FAILS(recvmsg(p[1], &m.h, MSG_DONTWAIT), EFAULT);
		IS(recvmsg(p[1], header(&m, 0), MSG_DONTWAIT), type == SOCK_STREAM ? 9 : 5); // of a stream "lost" is not
	}
	close(p[0]);
	close(p[1]);
}

static void of_requests(void)
{
	int s = socket(AF_TIPC, SOCK_SEQPACKET, 0), n = 7;
	struct tipc_sioc_nodeid_req id = { .peer = 0x1001001 };
	struct tipc_sioc_ln_req link = { .peer = 0x1001009 };
	FAILS(ioctl(s, FIONREAD, &n), ENOTTY);
	IS(n, 7);
	IS(ioctl(s, SIOCGETNODEID, &id), 0);
	IS(strcmp(id.node_id, "1001001"), 0);
	FAILS(ioctl(s, SIOCGETLINKNAME, &link), EADDRNOTAVAIL);
	FAILS(ioctl(s, SIOCGETNODEID, nowhere), EFAULT);
	int pipes[2];
	IS(pipe(pipes), 0);
	IS(write(pipes[1], "abc", 3), 3);
	IS(ioctl(pipes[0], FIONREAD, &n), 0); // of others it is the kernel's
	IS(n, 3);
	close(s);
}

// of_ends: who closes a socket that it was given has closed the last descriptor.
static void of_ends(int type)
{
	for (int i = 0; i < 200; i++) {
		int s[2];
		IS(socketpair(AF_TIPC, type, 0, s), 0);
		IS(close(s[1]), 0);
		struct pollfd p = { .fd = s[0] };
		IS(poll(&p, 1, 0), 1);
		IS(p.revents & POLLHUP, POLLHUP);
		IS(close(s[0]), 0);
	}
}

// deny lets a system call fail from here on, as the filters of containers do.
static void deny(unsigned int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };
	IS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	IS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

int main(int argc, char **argv)
{
	library = argc > 1;
	if (argc > 1 && strcmp(argv[1], "denied") == 0)
		deny(SYS_process_vm_readv);
	of_several(SOCK_RDM);
	of_several(SOCK_SEQPACKET);
	of_destinations();
	of_events();
	of_control();
	of_connections(SOCK_STREAM);
	of_connections(SOCK_SEQPACKET);
	of_pointers(SOCK_STREAM);
	of_pointers(SOCK_SEQPACKET);
	of_pointers(SOCK_RDM);
	of_requests();
	of_ends(SOCK_STREAM);
	of_ends(SOCK_SEQPACKET);
	if (wrong == 0)
		puts("all is well");
	return wrong;
}
