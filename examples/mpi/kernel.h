// SPDX-License-Identifier: Apache-2.0
//
// What the kernels have in common. Each is a small program of the kinds that clusters run, as those of internal/kernels
// in Go are: it checks what it has worked out, and ends the program with fail when that is wrong.
#include <mpi.h>
#include <stdint.h>

extern int rank, ranks;

// A kernel. All ranks call run, with the same arguments. It measures for so many seconds.
struct kernel {
	const char *name;
	const char *size_of; // what the size counts
	int size;            // unless another is asked for
	int least;           // number of ranks
	void (*run)(int size, double seconds);
};
extern const struct kernel pingpong, halo, intsort, cg, store, migrate;

// A meter takes the time of steps, of which those of the first tenth warm up and are not counted.
struct meter {
	double seconds, begin, last, sum;
	int together; // all ranks make the same steps: rank 0 says how many there are
	long left, batch, done;
	long steps, room;
	double *took; // by each step, in seconds
};
void meter_start(struct meter *m, double seconds, int together);
int another(struct meter *m); // another step is to be made
void step_begin(struct meter *m);
void step_end(struct meter *m);

// report prints a line of rank 0: NAME size=N ranks=N steps=N value=V p50=S p99=S max=S checked: WHAT. The value is a
// time in seconds, or a rate a second. It frees the meter.
void report(struct meter *m, const char *name, int size, double value, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
double mean(const struct meter *m);

void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *room(size_t size);
uint32_t chance(uint64_t *state); // the next number of a sequence that begins with any state but 0
