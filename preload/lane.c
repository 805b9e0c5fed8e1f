// SPDX-License-Identifier: Apache-2.0
//
// The lane: a call that would sleep looks again for a while first. What comes in that time wakes nobody, and a wake-up is most
// of what a short message costs. The data stay in the socket and every look is the kernel's, so that fork, exec, a passed
// descriptor, sendfile and the C library's own streams find what they find without a lane; there is no memory that the program
// shares with the daemon.
//
// Each thread decides for itself whether that pays. A wait begins with looks for SPIN at most, paid from a budget: looks in
// vain take out what they cost, looks that made a sleep needless put something in. With the budget empty a thread sleeps at
// once, but for a rare try. A try looks for longer, as the other end may be asleep too. A thread that was away between two
// looks shares its core, and rests: looking would only take the core from those that it waits for.
//
// A signal that comes between two looks ends no call: its handler has run before the call sleeps, as if the call had been made
// a moment later.
#include "plain.h"

#include <stdlib.h>
#include <time.h>

// In nanoseconds. stack/internal/poll/spinpolicy.go, which has the reasons, decides by the same figures.
enum {
	SPIN = 50000,       // of looks while they pay
	TRY = 150000,       // of a try
	EARNED = 25000,     // what a look that made a sleep needless puts in
	BUDGET = 16 * SPIN, // what looks in vain may cost in a row
	AWAY = 400000,      // between two looks: somebody else had the core
	SHORT_PAUSE = 10000000,
	LONG_PAUSE = 500000000, // from one try to the next, at most
	SHORT_REST = 8000000, // without looks, when the thread was away
	LONG_REST = 512000000, // the same, when it is away again and again
	TRIAL = 250000000,     // after a rest: to be away in it makes the next one longer
};

int lane_on;

static _Thread_local struct {
	int64_t spent;  // of BUDGET
	int64_t next;   // when to try, with nothing left
	int64_t pause;  // before the last try
	int64_t rested; // when the last rest ends
	int64_t rest;   // its length
} lane;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// allowed is for how long a wait that begins now may look.
static int64_t allowed(int64_t at)
{
	if (at < lane.rested)
		return 0;
	if (lane.spent < BUDGET)
		return SPIN;
	return at >= lane.next ? TRY : 0;
}

// in_vain accounts for looks that found nothing. The clock's position is a die, lest two ends try in turns for ever.
static void in_vain(const struct lane_wait *w)
{
	lane.spent += w->last - w->begun;
	if (w->most == SPIN && lane.spent < BUDGET)
		return;
	lane.spent = BUDGET;
	lane.pause = lane.pause == 0 ? SHORT_PAUSE : lane.pause < LONG_PAUSE / 2 ? 2 * lane.pause : LONG_PAUSE;
	lane.next = w->last + lane.pause + w->last % lane.pause;
}

// paid accounts for looks that found something.
static void paid(const struct lane_wait *w)
{
	if (w->last - w->begun >= SPIN) // in a try, too late to trust in looks
		return;
	if (w->most == TRY)
		lane.spent = BUDGET / 2;
	lane.spent -= lane.spent < EARNED ? lane.spent : EARNED;
	lane.pause = 0;
}

int lane_again(struct lane_wait *w, int found)
{
	if (found) {
		if (w->looks > 0)
			paid(w);
		return 0;
	}
	int64_t at = now();
	if (w->looks++ == 0) {
		w->begun = w->last = at;
		w->most = allowed(at);
	}
	if (at - w->last >= AWAY) {
		lane.rest = lane.rest == 0 || at - lane.rested >= TRIAL ? SHORT_REST : lane.rest < LONG_REST / 2 ? 2 * lane.rest : LONG_REST;
		lane.rested = at + lane.rest;
		return 0;
	}
	w->last = at;
	if (at - w->begun < w->most) {
		syscall(SYS_sched_yield); // it may be this core that the other end waits for
		return 1;
	}
	if (w->most > 0)
		in_vain(w);
	return 0;
}

// With one core a look only keeps the other end from running.
__attribute__((constructor)) static void switch_on(void)
{
	const char *text = secure_getenv("UTIPC_LANE");
	lane_on = text != NULL && *text == '1' && sysconf(_SC_NPROCESSORS_ONLN) > 1;
}
