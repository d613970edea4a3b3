/* SPDX-License-Identifier: BSD-3-Clause
 * Loops and branches of many kinds. tests/unit/test_order.c says what is expected of each. */
#include <stddef.h>

#include "order.h"

void up(int n)
{
	for (int i = 0; i < n; i++)
		visit(0);
}

void down(int n)
{
	for (int i = 4; i > 4 - n; i--)
		visit(0);
}

/* Nobody knows what others call it with. */
void down_from(int n)
{
	for (int i = n; i > 0; i--)
		visit(0);
}

void strided(int n)
{
	for (int i = 3; i < 3 + 5 * n; i += 5)
		visit(i);
}

void longs(int n)
{
	for (unsigned long i = 1ul << 40; i < (1ul << 40) + (unsigned long)n; i++)
		visit(0);
}

void doubled(int n)
{
	for (int width = 1; width < 1 << n; width *= 2)
		visit(0);
}

void halved(int n)
{
	(void)n;
	for (unsigned int width = 16; width; width >>= 1)
		visit((int)width);
}

void divided(int n)
{
	(void)n;
	for (int width = 16; width; width /= 2)
		visit(width);
}

struct item {
	struct item *next;
};

/* Nothing in here counts. */
void pointers(int n)
{
	static struct item items[8];

	for (int i = 0; i + 1 < n; i++)
		items[i].next = &items[i + 1];
	for (struct item *item = items; item; item = item->next)
		visit(0);
}

/* Before and after the change. */
void two_calls(int n)
{
	int k = 0;

	while (k < n) {
		visit(1);
		k++;
		visit(2);
	}
}

void until(int n)
{
	int k = 0;

	do {
		visit(0);
		k++;
	} while (k < n);
}

void jumps(int n)
{
	int k = 0;

again:
	visit(0);
	if (++k < n)
		goto again;
}

void nested(int n)
{
	for (int i = 0; i < n; i++) {
		visit(1);
		for (int j = 0; j < 2; j++)
			for (int k = 2; k > 0; k--)
				visit(2);
		visit(3);
	}
}

void branches(int n)
{
	/* By another function, or the compiler makes one call of both. */
	static const int place = 3;

	for (int i = 0; i < n; i++) {
		visit(1);
		if (which)
			visit(2);
		else
			visit_f(&place);
		visit(4);
	}
}

void choose(int n)
{
	(void)n;
	visit(0);
	switch (which) {
	case 0:
		visit(10);
		break;
	case 1:
		visit(21);
		visit(22);
		break;
	case 2:
		visit(30);
		/* fall through */
	case 3:
		visit(40);
		break;
	case 4:
		visit(50);
		visit(51);
		visit(52);
		break;
	case 5:
		visit(60);
		break;
	default:
		return;
	}
	visit(1);
}

void sequence(int n)
{
	visit(1);
	if (n > 2)
		visit(2);
	for (int i = 0; i < 2; i++)
		visit(3);
	visit(4);
	for (int i = 0; i < 2; i++)
		visit(5);
	visit(6);
}

static int values[8];

/* Optimizers have a pointer in place of i. */
void array(int n)
{
	for (int i = 0; i < n; i++)
		visit(values[i]);
}

void recurse(int n)
{
	for (int i = 0; i < 2; i++) {
		visit(1);
		if (n > 2)
			recurse(n - 1);
	}
	visit(2);
}

static inline void sweep(int n, int place)
{
	for (int cell = 0; cell < n; cell++)
		visit(place);
}

void inlined(int n)
{
	for (int step = 0; step < n; step++) {
		sweep(2, 1);
		sweep(3, 2);
	}
}

__attribute__((noipa)) static void change(int *value)
{
	*value += 1;
}

/* Somebody else changes it, too. */
void changed(int n)
{
	for (int i = 0; i < 2 * n; i++) {
		visit(0);
		change(&i);
	}
}

/* Not once in each iteration. */
void irregular(int n)
{
	int k = 0;

	while (k < n) {
		visit(0);
		if (values[k] == which)
			k++;
	}
}

/* Goes round for ever in iteration `which`, at many instructions. */
void endless(int n)
{
	static volatile double field[64];

#define STEP(k) field[(k) + 1] = field[k] * n + field[(k) + 2]
#define STEPS(k) STEP(k), STEP(k + 1), STEP(k + 2), STEP(k + 3), STEP(k + 4), STEP(k + 5)
	for (int i = 0; i < n; i++) {
		visit(i);
		while (i == which && field[0] < 1)
			STEPS(0), STEPS(6), STEPS(12), STEPS(18), STEPS(24), STEPS(30), STEPS(36);
	}
}
