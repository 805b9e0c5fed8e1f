// SPDX-License-Identifier: Apache-2.0
//
// Integers are sorted: each rank parts its keys into as many ranges as there are ranks, all exchange them with all, and each
// sorts what it got. After every sort the order is checked within and between ranks, and that no key is missing.
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { BITS = 20, DIGIT = 10, DIGITS = 1 << DIGIT };

struct sorter {
	int n; // keys of a rank
	uint32_t *keys, *out, *in, *spare;
	int *counts, *begins, *got_counts, *got_begins; // by ranks
	int got;
	double sum; // of keys; exact, being far below 2^53
};

static int owner(uint32_t key) { return (uint64_t)key * ranks >> BITS; }

static void deal(struct sorter *s, uint64_t step)
{
	uint64_t state = (step + 1) * 0x9e3779b97f4a7c15 ^ (rank + 1);
	s->sum = 0;
	for (int i = 0; i < s->n; i++) {
		s->keys[i] = chance(&state) >> (32 - BITS);
		s->sum += s->keys[i];
	}
}

// pass sorts by one digit, and keeps the order of keys that have the same.
static void pass(uint32_t *to, const uint32_t *from, int n, int shift)
{
	int begin[DIGITS + 1] = { 0 };
	for (int i = 0; i < n; i++)
		begin[(from[i] >> shift & (DIGITS - 1)) + 1]++;
	for (int d = 0; d < DIGITS; d++)
		begin[d + 1] += begin[d];
	for (int i = 0; i < n; i++)
		to[begin[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

// add makes begins of counts, and returns the sum.
static int add(int *begins, const int *counts)
{
	int sum = 0;
	for (int r = 0; r < ranks; r++) {
		begins[r] = sum;
		sum += counts[r];
	}
	return sum;
}

static void sort(struct sorter *s)
{
	int at[ranks];
	memset(s->counts, 0, sizeof *s->counts * ranks);
	for (int i = 0; i < s->n; i++)
		s->counts[owner(s->keys[i])]++;
	add(s->begins, s->counts);
	memcpy(at, s->begins, sizeof at);
	for (int i = 0; i < s->n; i++)
		s->out[at[owner(s->keys[i])]++] = s->keys[i];
	MPI_Alltoall(s->counts, 1, MPI_INT, s->got_counts, 1, MPI_INT, MPI_COMM_WORLD);
	s->got = add(s->got_begins, s->got_counts);
	MPI_Alltoallv(s->out, s->counts, s->begins, MPI_UINT32_T, s->in, s->got_counts, s->got_begins, MPI_UINT32_T, MPI_COMM_WORLD);
	pass(s->spare, s->in, s->got, 0);
	pass(s->in, s->spare, s->got, DIGIT);
}

static void check(const struct sorter *s, long step)
{
	double own[4] = { s->n, s->sum, s->got, 0 }, all[4];
	for (int i = 0; i < s->got; i++) {
		if (i > 0 && s->in[i - 1] > s->in[i])
			fail("intsort: sort %ld: key %d, %u, stands behind %u", step, i, s->in[i], s->in[i - 1]);
		if (owner(s->in[i]) != rank)
			fail("intsort: sort %ld: key %u is rank %d's", step, s->in[i], owner(s->in[i]));
		own[3] += s->in[i];
	}
	MPI_Allreduce(own, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (all[0] != all[2] || all[1] != all[3])
		fail("intsort: sort %ld: of %.0f keys with the sum %.0f, %.0f with the sum %.0f came back", step, all[0], all[1], all[2], all[3]);
}

static void run(int size, double seconds)
{
	struct meter m;
	int total = size * ranks;
	struct sorter s = { .n = size };
	s.keys = room(sizeof *s.keys * size);
	s.out = room(sizeof *s.out * size);
	s.in = room(sizeof *s.in * total); // at most all keys
	s.spare = room(sizeof *s.spare * total);
	s.counts = room(sizeof *s.counts * 4 * ranks);
	s.begins = s.counts + ranks;
	s.got_counts = s.begins + ranks;
	s.got_begins = s.got_counts + ranks;
	meter_start(&m, seconds, 1);
	while (another(&m)) {
		deal(&s, m.done);
		MPI_Barrier(MPI_COMM_WORLD);
		step_begin(&m);
		sort(&s);
		step_end(&m);
		check(&s, m.done);
	}
	report(&m, intsort.name, size, mean(&m), "%d keys in order after each sort, none missing", total);
	free(s.keys);
	free(s.out);
	free(s.in);
	free(s.spare);
	free(s.counts);
}

const struct kernel intsort = { "intsort", "keys of a rank", 1 << 16, 2, run };
