// SPDX-License-Identifier: Apache-2.0
//
// Cancellation of threads. The library's functions are in place of some of the C library's that
// are cancellation points, so its calls that may wait are as well, for whatever descriptor. Requests
// to the daemon are none: they end by themselves, but for a connect that waits, and a send.
#include "plain.h"

#include <pthread.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
static const char __libc_single_threaded;
#endif

enum { ALONE = -1 }; // there is no other thread

int begin_waiting(void)
{
	int type = ALONE;
	if (!__libc_single_threaded)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	return type;
}

void end_waiting(int type)
{
	int old;
	if (type != ALONE)
		pthread_setcanceltype(type, &old);
}
