// SPDX-License-Identifier: Apache-2.0
//
// Five application kernels and a ping-pong in plain MPI:
//
//	mpicc -O2 -o kernels *.c -lm
//	mpirun -n 2 ./kernels -t 0.5 pingpong halo:79 cg
//
// A kernel's name may have a size behind it. -t is for how many seconds each measures.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

int rank, ranks;

static const struct kernel *const all[] = { &pingpong, &halo, &intsort, &cg, &store, &migrate };

enum { COUNT = sizeof all / sizeof *all, FEWEST = 3 };

void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "rank %d: ", rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

void *room(size_t size)
{
	void *p = calloc(size ? size : 1, 1);
	if (p == NULL)
		fail("no memory for %zu bytes", size);
	return p;
}

uint32_t chance(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(*state * 0x2545f4914f6cdd1d >> 32);
}

void meter_start(struct meter *m, double seconds, int together)
{
	memset(m, 0, sizeof *m);
	m->seconds = seconds;
	m->together = together;
	m->room = 1024;
	m->took = room(m->room * sizeof *m->took);
	m->begin = MPI_Wtime();
}

int another(struct meter *m)
{
	double so = MPI_Wtime() - m->begin, all = 1.1 * m->seconds;
	if (!m->together)
		return m->steps < FEWEST || so < all;
	if (m->left == 0) {
		if (rank == 0 && (m->steps < FEWEST || so < all)) { // as many as fit, but careful at first
			double fit = m->done ? (all - so) / (so / m->done) / 2 : 1;
			m->batch = fmax(1, fmin(fit, 2 * m->batch));
		} else {
			m->batch = 0;
		}
		MPI_Bcast(&m->batch, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		m->left = m->batch;
	}
	return m->left > 0 && m->left--;
}

void step_begin(struct meter *m) { m->last = MPI_Wtime(); }

void step_end(struct meter *m)
{
	double took = MPI_Wtime() - m->last;
	if (m->done++ < FEWEST || m->last - m->begin < m->seconds / 10)
		return;
	if (m->steps == m->room) {
		m->room *= 2;
		m->took = realloc(m->took, m->room * sizeof *m->took);
		if (m->took == NULL)
			fail("no memory for %ld steps", m->room);
	}
	m->took[m->steps++] = took;
	m->sum += took;
}

double mean(const struct meter *m) { return m->sum / m->steps; }

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void report(struct meter *m, const char *name, int size, double value, const char *format, ...)
{
	if (rank == 0) {
		va_list args;
		qsort(m->took, m->steps, sizeof *m->took, ascending);
		printf("%s size=%d ranks=%d steps=%ld value=%.6g p50=%.6g p99=%.6g max=%.6g checked: ", name, size, ranks, m->steps, value,
			m->took[(m->steps - 1) / 2], m->took[(m->steps - 1) * 99 / 100], m->took[m->steps - 1]);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		putchar('\n');
		fflush(stdout);
	}
	free(m->took);
}

static void usage(void)
{
	if (rank == 0) {
		fprintf(stderr, "usage: kernels [-t SECONDS] NAME[:SIZE]...\n");
		for (int i = 0; i < COUNT; i++)
			fprintf(stderr, "  %-10s size: %s (%d); %d ranks or more\n", all[i]->name, all[i]->size_of, all[i]->size, all[i]->least);
	}
	MPI_Finalize();
	exit(2);
}

// run_one runs the kernel that a word names.
static void run_one(const char *word, double seconds)
{
	size_t length = strcspn(word, ":");
	for (int i = 0; i < COUNT; i++) {
		const struct kernel *k = all[i];
		if (strlen(k->name) != length || strncmp(word, k->name, length) != 0)
			continue;
		int size = word[length] ? atoi(word + length + 1) : k->size;
		if (size < 0 || ranks < k->least)
			fail("%s needs a size and %d ranks: there are %d", word, k->least, ranks);
		k->run(size, seconds);
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	usage();
}

int main(int argc, char **argv)
{
	double seconds = 1;
	int first = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 2 && strcmp(argv[1], "-t") == 0) {
		seconds = atof(argv[2]);
		first = 3;
	}
	if (first >= argc || !(seconds > 0))
		usage();
	for (int i = first; i < argc; i++)
		run_one(argv[i], seconds);
	MPI_Finalize();
	return 0;
}
