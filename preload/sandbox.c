// SPDX-License-Identifier: Apache-2.0
//
// A program may give up system calls, as sshd does for who has not logged in yet: it has allowed itself those on the
// descriptors that it has, and is killed for others. Reads and writes of a plain socket are the kernel's own, so the calls of
// such a thread go to the kernel at once, where TCP is the daemon's. Messages of AF_TIPC cannot be read without the library:
// there a program's filter has to allow its calls.
#include "plain.h"

#include <stdarg.h>
#include <sys/prctl.h>

_Thread_local int filtered;

EXPORT int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	int rc = syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
	if (option == PR_SET_SECCOMP && rc == 0 && tcp_variable() != NULL)
		filtered = 1;
	return rc;
}
