// SPDX-License-Identifier: Apache-2.0
//
// Messages there and back between the first rank and the last, of one size after the other, as NetPIPE sends them. Each
// comes back with the number that it left with at its ends, and at last whole.
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { GO, END };

static const int sizes[] = { 0, 1, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20 };

static char pattern(long i) { return (char)(i * 31 + i / 251); }

static void mark(char *b, int size, char number)
{
	if (size > 0)
		b[0] = b[size - 1] = number;
}

// ask sends and measures.
static void ask(struct meter *m, char *out, char *in, int size)
{
	MPI_Status status;
	for (int i = 0; i < size; i++)
		out[i] = pattern(i);
	for (char number = 0; another(m); number++) {
		mark(out, size, number);
		mark(in, size, number + 1);
		step_begin(m);
		MPI_Send(out, size, MPI_CHAR, ranks - 1, GO, MPI_COMM_WORLD);
		MPI_Recv(in, size, MPI_CHAR, ranks - 1, GO, MPI_COMM_WORLD, &status);
		step_end(m);
		if (size > 0 && (in[0] != number || in[size - 1] != number))
			fail("pingpong: %d bytes came back with %d and %d, want %d", size, in[0], in[size - 1], number);
	}
	if (memcmp(in, out, size) != 0)
		fail("pingpong: %d bytes came back changed", size);
	MPI_Send(out, 0, MPI_CHAR, ranks - 1, END, MPI_COMM_WORLD);
}

static void answer(char *b, int size)
{
	for (;;) {
		MPI_Status status;
		MPI_Recv(b, size, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == END)
			return;
		MPI_Send(b, size, MPI_CHAR, 0, GO, MPI_COMM_WORLD);
	}
}

static void one(int size, double seconds)
{
	struct meter m;
	char *out = room(size), *in = room(size);
	MPI_Barrier(MPI_COMM_WORLD);
	meter_start(&m, seconds, 0);
	if (rank == 0)
		ask(&m, out, in, size);
	else if (rank == ranks - 1)
		answer(in, size);
	report(&m, pingpong.name, size, mean(&m), "what was sent came back");
	free(out);
	free(in);
}

static void run(int size, double seconds)
{
	int count = sizeof sizes / sizeof *sizes;
	for (int i = 0; i < count; i++)
		if (size == 0 || size == sizes[i])
			one(sizes[i], seconds / 3);
}

const struct kernel pingpong = { "pingpong", "bytes of a message; 0: many sizes, each for a third of the time", 0, 2, run };
