// SPDX-License-Identifier: Apache-2.0
//
// Programs ask whether there is TIPC by a look at /proc/modules: it lists tipc.
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// modules opens a copy of the list, or returns -1.
static int modules(int flags)
{
	static const char line[] = "tipc 421888 0 - Live 0x0000000000000000\n";
	char text[4096];
	ssize_t k;
	int e = errno;
	int from = syscall(SYS_openat, AT_FDCWD, "/proc/modules", O_RDONLY | O_CLOEXEC);
	int to = syscall(SYS_memfd_create, "modules", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	while (to >= 0 && from >= 0 && (k = syscall(SYS_read, from, text, sizeof text)) > 0)
		syscall(SYS_write, to, text, k);
	if (from >= 0)
		syscall(SYS_close, from);
	if (to >= 0) {
		syscall(SYS_write, to, line, sizeof line - 1);
		syscall(SYS_lseek, to, 0, SEEK_SET);
	}
	errno = e;
	return to;
}

static int wanted(const char *path, int flags)
{
	return path != NULL && (flags & O_ACCMODE) == O_RDONLY && strcmp(path, "/proc/modules") == 0;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	int fd = wanted(path, flags) ? modules(flags) : -1;
	return fd >= 0 ? fd : (int)waiting_call(SYS_openat, dir, path, flags, mode);
}

#define MODE(last, mode)                                     \
	mode_t mode = 0;                                     \
	if ((last) & O_CREAT || ((last)&O_TMPFILE) == O_TMPFILE) { \
		va_list ap;                                  \
		va_start(ap, last);                          \
		mode = va_arg(ap, unsigned int);             \
		va_end(ap);                                  \
	}

EXPORT int open(const char *path, int flags, ...)
{
	MODE(flags, mode)
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	MODE(flags, mode)
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	MODE(flags, mode)
	return open_at(dir, path, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	MODE(flags, mode)
	return open_at(dir, path, flags, mode);
}
