// SPDX-License-Identifier: Apache-2.0
//
// How the programs here print what is otherwise than it should be.
#include <errno.h>
#include <stdio.h>

static int wrong;

static void check(int line, const char *text, long got, long want)
{
	if (got == want)
		return;
	printf("line %d: %s: %ld, want %ld\n", line, text, got, want);
	wrong = 1;
}

#define IS(expression, want) check(__LINE__, #expression, (expression), (want))
#define FAILS(expression, error) (errno = 0, IS((expression), -1), check(__LINE__, "errno of " #expression, errno, (error)))
