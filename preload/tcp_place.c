// SPDX-License-Identifier: Apache-2.0
//
// A plain socket takes the place of one of the kernel. The kernel keeps no list of what refers to a socket, so
// all descriptors of the process are looked at: for others of the same socket, and for sets of epoll that have one of
// them. What other processes have stays the kernel's.
#include "tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

// What refers to a socket.
struct place {
	int set; // an epoll, or -1: fd is a descriptor of the socket
	int fd;
	struct epoll_event event;
};

struct places {
	struct place *all;
	int n, room;
};

static void add(struct places *p, struct place place)
{
	if (p->n == p->room) {
		int room = p->room > 0 ? 2 * p->room : 8;
		struct place *all = realloc(p->all, room * sizeof *all);
		if (all == NULL)
			return;
		p->all = all;
		p->room = room;
	}
	p->all[p->n++] = place;
}

static int same_socket(const struct stat *a, const struct stat *b) { return S_ISSOCK(b->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

// is_set reports whether a descriptor, one without a name, is an epoll.
static int is_set(int dir, const char *name)
{
	static const char want[] = "anon_inode:[eventpoll]";
	char text[sizeof want];
	return syscall(SYS_readlinkat, dir, name, text, sizeof text) == (long)sizeof want - 1 && memcmp(text, want, sizeof want - 1) == 0;
}

// look_around finds descriptors of the socket that s is the status of, and then sets.
static void look_around(const struct stat *s, struct places *sockets, struct places *sets)
{
	struct entry {
		uint64_t inode;
		int64_t off;
		unsigned short len;
		unsigned char type;
		char name[];
	};
	_Alignas(struct entry) char text[8192];
	int dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	long n;
	while ((n = syscall(SYS_getdents64, dir, text, sizeof text)) > 0)
		for (long at = 0; at < n; at += ((struct entry *)(text + at))->len) {
			const char *name = ((struct entry *)(text + at))->name;
			struct stat st;
			int fd = atoi(name);
			if (name[0] == '.' || fd == dir || fstat(fd, &st) < 0)
				continue;
			if (same_socket(s, &st))
				add(sockets, (struct place){ .set = -1, .fd = fd });
			else if (!S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode) && is_set(dir, name))
				add(sets, (struct place){ .set = fd });
		}
	syscall(SYS_close, dir);
}

// withdraw takes the socket out of a set, and adds what was there to found.
static void withdraw(int set, const struct places *sockets, struct places *found)
{
	int count;
	struct registration *all = registrations(set, &count);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < sockets->n; k++)
			if (all[i].fd == sockets->all[k].fd && syscall(SYS_epoll_ctl, set, EPOLL_CTL_DEL, all[i].fd, NULL) == 0)
				add(found, (struct place){ set, all[i].fd, { all[i].events, { .u64 = all[i].data } } });
	free(all);
}

void move_registrations(int fd, void (*to)(int ep, int fd, struct epoll_event e))
{
	struct places sockets = { 0 }, sets = { 0 }, found = { 0 };
	struct stat s;
	int e = errno;
	if (fstat(fd, &s) == 0)
		look_around(&s, &sockets, &sets);
	for (int i = 0; i < sets.n; i++)
		withdraw(sets.all[i].set, &sockets, &found);
	for (int i = 0; i < found.n; i++)
		to(found.all[i].set, found.all[i].fd, found.all[i].event);
	free(sockets.all);
	free(sets.all);
	free(found.all);
	errno = e;
}

void take_place(int plain, int fd)
{
	struct places sockets = { 0 }, sets = { 0 }, found = { 0 };
	struct stat s;
	int e = errno, flags = syscall(SYS_fcntl, fd, F_GETFL);
	if (fstat(fd, &s) == 0)
		look_around(&s, &sockets, &sets);
	if (sockets.n == 0)
		add(&sockets, (struct place){ .set = -1, .fd = fd });
	for (int i = 0; i < sets.n; i++)
		withdraw(sets.all[i].set, &sockets, &found);
	if (flags & O_NONBLOCK)
		syscall(SYS_fcntl, plain, F_SETFL, O_RDWR | O_NONBLOCK);
	for (int i = 0; i < sockets.n; i++) {
		int to = sockets.all[i].fd, close_on_exec = syscall(SYS_fcntl, to, F_GETFD) & FD_CLOEXEC;
		syscall(SYS_dup3, plain, to, close_on_exec ? O_CLOEXEC : 0);
	}
	syscall(SYS_close, plain);
	for (int i = 0; i < found.n; i++)
		syscall(SYS_epoll_ctl, found.all[i].set, EPOLL_CTL_ADD, found.all[i].fd, &found.all[i].event);
	free(sockets.all);
	free(sets.all);
	free(found.all);
	errno = e;
}
