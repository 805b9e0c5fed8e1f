// SPDX-License-Identifier: Apache-2.0
//
// A program of MPI whose results are checked: messages of many lengths around a ring, sums, an exchange of all with all, the
// ranks' data in one place. Rank 0 prints what is wrong, the time of a round trip between the first rank and the last, and
// then "all is well" if there was nothing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20, SUMS = 1000, TRIPS = 200, EACH = 5000, TAG = 7 };

static int rank, ranks, wrong;

static void check(const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("rank %d: %s: %ld, want %ld\n", rank, what, got, want);
	wrong = 1;
}

static char pattern(int from, int size, int i) { return (char)(from * 31 + size * 7 + i + i / 251); }

static void ring(char *out, char *in, int size)
{
	int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, count = -1, bad = 0;
	MPI_Status status;
	for (int i = 0; i < size; i++)
		out[i] = pattern(rank, size, i);
	MPI_Sendrecv(out, size, MPI_CHAR, next, TAG, in, LONGEST, MPI_CHAR, previous, TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_CHAR, &count);
	for (int i = 0; i < size; i++)
		bad += in[i] != pattern(previous, size, i);
	check("length of a message", count, size);
	check("wrong bytes", bad, 0);
}

static void sums(void)
{
	static long own[SUMS], all[SUMS];
	long bad = 0;
	for (int i = 0; i < SUMS; i++)
		own[i] = (long)i * (rank + 1);
	MPI_Allreduce(own, all, SUMS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < SUMS; i++)
		bad += all[i] != (long)i * ranks * (ranks + 1) / 2;
	check("wrong sums", bad, 0);
}

static void all_with_all(void)
{
	int *out = malloc(sizeof *out * EACH * ranks), *in = malloc(sizeof *in * EACH * ranks);
	long bad = 0;
	for (int i = 0; i < EACH * ranks; i++)
		out[i] = rank * EACH * ranks + i;
	MPI_Alltoall(out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		for (int i = 0; i < EACH; i++)
			bad += in[from * EACH + i] != from * EACH * ranks + rank * EACH + i;
	check("wrong numbers of all with all", bad, 0);
	free(out);
	free(in);
}

static void trips(void)
{
	char b[8] = { 0 };
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int i = 0; i < TRIPS; i++)
		if (rank == 0) {
			MPI_Send(b, sizeof b, MPI_CHAR, ranks - 1, TAG, MPI_COMM_WORLD);
			MPI_Recv(b, sizeof b, MPI_CHAR, ranks - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == ranks - 1) {
			MPI_Recv(b, sizeof b, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(b, sizeof b, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
		}
	if (rank == 0)
		printf("a round trip takes %.1f us\n", (MPI_Wtime() - begin) / TRIPS * 1e6);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *out = malloc(LONGEST), *in = malloc(LONGEST);
	for (int size = 1; size <= LONGEST; size *= 4)
		ring(out, in, size);
	sums();
	all_with_all();
	trips();
	int any = 0;
	MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0 && !any)
		printf("%d ranks: all is well\n", ranks);
	free(out);
	free(in);
	MPI_Finalize();
	return any;
}
