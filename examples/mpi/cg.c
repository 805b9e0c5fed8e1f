// SPDX-License-Identifier: Apache-2.0
//
// A sparse system of linear equations is solved by conjugate gradients. Its rows are spread over the ranks; a step gathers a
// vector and sums two scalar products over all ranks. The residual of each solution is worked out anew, and has to be small.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { SOLVE = 25, BESIDE = 4 }; // steps to a solution; entries beside the diagonal that each row brings, and its column

static const double accuracy = 1e-10; // of the residual, beside the right side

struct solver {
	int n, all, first;        // own rows, all, the first of the own
	int *begin, *column;      // of the own rows' entries
	double *value;
	double *b, *x, *r, *q, *p; // of p all, of the others the own part
	double rr;                // the product of r with itself
};

// entries calls put for each entry of a matrix that is symmetric and whose diagonal outweighs the rest.
static void entries(struct solver *s, void (*put)(struct solver *, int row, int column, double value))
{
	uint64_t state = 1;
	double *weight = room(sizeof *weight * s->all);
	for (int i = 0; i < s->all; i++)
		for (int k = 0; k < BESIDE; k++) {
			int j = chance(&state) % s->all;
			double v = -(chance(&state) / 4294967296.0);
			if (j == i)
				continue;
			put(s, i, j, v);
			put(s, j, i, v);
			weight[i] -= v;
			weight[j] -= v;
		}
	for (int i = 0; i < s->all; i++)
		put(s, i, i, weight[i] + 4);
	free(weight);
}

static int own_row(const struct solver *s, int row) { return row >= s->first && row < s->first + s->n ? row - s->first : -1; }

static void count(struct solver *s, int row, int column, double value)
{
	(void)column, (void)value;
	if (own_row(s, row) >= 0)
		s->begin[own_row(s, row) + 2]++;
}

static void fill(struct solver *s, int row, int column, double value)
{
	if (own_row(s, row) < 0)
		return;
	int at = s->begin[own_row(s, row) + 1]++;
	s->column[at] = column;
	s->value[at] = value;
}

static double dot(const struct solver *s, const double *a, const double *b)
{
	double own = 0, sum;
	for (int i = 0; i < s->n; i++)
		own += a[i] * b[i];
	MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

// multiply gathers p, and sets q to the own rows of its product with the matrix.
static void multiply(struct solver *s)
{
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->p, s->n, MPI_DOUBLE, MPI_COMM_WORLD);
	for (int i = 0; i < s->n; i++) {
		double sum = 0;
		for (int e = s->begin[i]; e < s->begin[i + 1]; e++)
			sum += s->value[e] * s->p[s->column[e]];
		s->q[i] = sum;
	}
}

static void start(struct solver *s)
{
	memset(s->x, 0, sizeof *s->x * s->n);
	memcpy(s->r, s->b, sizeof *s->r * s->n);
	memcpy(s->p + s->first, s->r, sizeof *s->r * s->n);
	s->rr = dot(s, s->r, s->r);
}

static void step(struct solver *s)
{
	double *p = s->p + s->first;
	multiply(s);
	double alpha = s->rr / dot(s, p, s->q);
	for (int i = 0; i < s->n; i++) {
		s->x[i] += alpha * p[i];
		s->r[i] -= alpha * s->q[i];
	}
	double rr = dot(s, s->r, s->r), beta = rr / s->rr;
	s->rr = rr;
	for (int i = 0; i < s->n; i++)
		p[i] = s->r[i] + beta * p[i];
}

// residual returns |b - A x| / |b|, of x alone.
static double residual(struct solver *s)
{
	memcpy(s->p + s->first, s->x, sizeof *s->x * s->n);
	multiply(s);
	for (int i = 0; i < s->n; i++)
		s->q[i] = s->b[i] - s->q[i];
	double rest = sqrt(dot(s, s->q, s->q) / dot(s, s->b, s->b));
	if (!(rest < accuracy))
		fail("cg: after %d steps the residual is %g", SOLVE, rest);
	return rest;
}

static void run(int size, double seconds)
{
	struct meter m;
	struct solver s = { .n = size, .all = size * ranks, .first = size * rank };
	s.begin = room(sizeof *s.begin * (size + 2));
	entries(&s, count);
	for (int i = 0; i < size; i++)
		s.begin[i + 2] += s.begin[i + 1];
	s.column = room(sizeof *s.column * s.begin[size + 1]);
	s.value = room(sizeof *s.value * s.begin[size + 1]);
	entries(&s, fill);
	double *vectors = s.b = room(sizeof *vectors * (4 * size + s.all));
	s.x = s.b + size;
	s.r = s.x + size;
	s.q = s.r + size;
	s.p = s.q + size;
	for (int i = 0; i < size; i++)
		s.b[i] = 1 + (s.first + i) % 7;
	double worst = 0;
	long done = 0;
	meter_start(&m, seconds, 1);
	for (; another(&m); done++) {
		if (done % SOLVE == 0) {
			if (done > 0)
				worst = fmax(worst, residual(&s));
			start(&s);
		}
		step_begin(&m);
		step(&s);
		step_end(&m);
	}
	for (; done % SOLVE != 0; done++)
		step(&s);
	worst = fmax(worst, residual(&s));
	report(&m, cg.name, size, mean(&m), "residuals of %d unknowns after %d steps at most %.1e", s.all, SOLVE, worst);
	free(s.begin);
	free(s.column);
	free(s.value);
	free(vectors);
}

const struct kernel cg = { "cg", "unknowns of a rank", 700, 2, run };
