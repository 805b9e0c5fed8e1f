// SPDX-License-Identifier: Apache-2.0
//
// A plate's temperature, worked out step by step: each point becomes the mean of its four neighbours. The plate is cut into
// square blocks, one a rank; before a step each rank sends the edges of its block to its neighbours, and receives its halo.
// In the end the whole plate is compared, bit by bit, with one that a single rank works out.
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { UP, DOWN, LEFT, RIGHT, SIDES };

static const int opposite[SIDES] = { DOWN, UP, RIGHT, LEFT };

struct block {
	int n, wide;       // points of an edge, without the halo and with it
	int beside[SIDES]; // ranks; MPI_PROC_NULL at the plate's border
	double *now, *next;
	double *out, *in; // edges, one behind the other
};

// plate is a part of the plate in the beginning, with its halo; its first point is at (row, column) of the whole.
static double *plate(int rows, int columns, int row, int column)
{
	double *p = room(sizeof *p * (rows + 2) * (columns + 2));
	for (int r = 0; r < rows + 2; r++)
		for (int c = 0; c < columns + 2; c++)
			p[r * (columns + 2) + c] = ((row + r) * 37 + (column + c) * 101) % 1009;
	return p;
}

// place says where a point of a side is, among the outermost points (depth 1) or in the halo (0).
static int place(const struct block *b, int side, int depth, int i)
{
	int far = b->wide - 1 - depth;
	switch (side) {
	case UP:
		return depth * b->wide + 1 + i;
	case DOWN:
		return far * b->wide + 1 + i;
	case LEFT:
		return (1 + i) * b->wide + depth;
	}
	return (1 + i) * b->wide + far;
}

static void exchange(struct block *b)
{
	MPI_Request all[2 * SIDES];
	MPI_Status done[2 * SIDES];
	for (int side = 0; side < SIDES; side++) {
		double *out = b->out + side * b->n;
		MPI_Irecv(b->in + side * b->n, b->n, MPI_DOUBLE, b->beside[side], opposite[side], MPI_COMM_WORLD, &all[side]);
		for (int i = 0; i < b->n; i++)
			out[i] = b->next[place(b, side, 1, i)];
	}
	for (int side = 0; side < SIDES; side++)
		MPI_Isend(b->out + side * b->n, b->n, MPI_DOUBLE, b->beside[side], side, MPI_COMM_WORLD, &all[SIDES + side]);
	MPI_Waitall(2 * SIDES, all, done);
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < b->n && b->beside[side] != MPI_PROC_NULL; i++)
			b->next[place(b, side, 0, i)] = b->in[side * b->n + i];
}

static void relax(double *next, const double *now, int rows, int columns)
{
	int wide = columns + 2;
	for (int r = 1; r <= rows; r++)
		for (int c = 1; c <= columns; c++) {
			const double *at = now + r * wide + c;
			next[r * wide + c] = 0.25 * (at[-wide] + at[wide] + at[-1] + at[1]);
		}
}

static void swap(double **a, double **b)
{
	double *t = *a;
	*a = *b;
	*b = t;
}

// check has rank 0 compare all blocks with the plate.
static void check(const struct block *b, int rows, int columns, long steps)
{
	int size = b->wide * b->wide, height = rows * b->n, width = columns * b->n;
	double *blocks = rank == 0 ? room(sizeof *blocks * size * ranks) : NULL;
	MPI_Gather(b->next, size, MPI_DOUBLE, blocks, size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank > 0)
		return;
	double *next = plate(height, width, 0, 0), *now = plate(height, width, 0, 0);
	for (long s = 0; s < steps; s++) {
		swap(&now, &next);
		relax(next, now, height, width);
	}
	for (int from = 0; from < ranks; from++)
		for (int r = 1; r <= b->n; r++)
			for (int c = 1; c <= b->n; c++) {
				double got = blocks[from * size + r * b->wide + c];
				double want = next[(from / columns * b->n + r) * (width + 2) + from % columns * b->n + c];
				if (got != want)
					fail("halo: point %d,%d of rank %d is %g after %ld steps, a single rank has %g", r, c, from, got, steps, want);
			}
	free(now);
	free(next);
	free(blocks);
}

static void run(int size, double seconds)
{
	struct meter m;
	int rows = 1;
	for (int r = 1; r * r <= ranks; r++)
		if (ranks % r == 0)
			rows = r;
	int columns = ranks / rows, row = rank / columns, column = rank % columns;
	struct block b = { .n = size, .wide = size + 2 };
	b.beside[UP] = row > 0 ? rank - columns : MPI_PROC_NULL;
	b.beside[DOWN] = row < rows - 1 ? rank + columns : MPI_PROC_NULL;
	b.beside[LEFT] = column > 0 ? rank - 1 : MPI_PROC_NULL;
	b.beside[RIGHT] = column < columns - 1 ? rank + 1 : MPI_PROC_NULL;
	b.now = plate(size, size, row * size, column * size);
	b.next = plate(size, size, row * size, column * size);
	b.out = room(sizeof *b.out * SIDES * size);
	b.in = room(sizeof *b.in * SIDES * size);
	meter_start(&m, seconds, 1);
	while (another(&m)) {
		step_begin(&m);
		exchange(&b);
		swap(&b.now, &b.next);
		relax(b.next, b.now, size, size);
		step_end(&m);
	}
	check(&b, rows, columns, m.done);
	report(&m, halo.name, size, mean(&m), "all %d points as a single rank works them out", size * size * ranks);
	free(b.now);
	free(b.next);
	free(b.out);
	free(b.in);
}

const struct kernel halo = { "halo", "points of a block's edge", 79, 2, run };
