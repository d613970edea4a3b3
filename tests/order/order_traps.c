/* SPDX-License-Identifier: BSD-3-Clause
 * Code in which it is easy to claim an order that is none. tests/unit/test_order.c says what is
 * expected of each. */
#include <search.h>
#include <stdlib.h>

#include "order.h"

/* Each rank has a part of its own. */
void part(int n)
{
	for (int i = 100 * which; i < 100 * which + n; i++)
		visit(0);
}

void part_down(int n)
{
	for (int i = which ? 50 : 60; i > n; i--)
		visit(0);
}

/* The inner loop begins where the outer one is. */
void triangle(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			visit(0);
}

/* Numbers that are as good as random. */
void random_numbers(int n)
{
	unsigned int seed = 1;

	(void)n;
	while (more()) {
		visit(1);
		visit((int)seed);
		seed = seed * 1103515245 + 12345;
	}
}

void hashed(int n)
{
	unsigned int hash = 5381;

	(void)n;
	while (more()) {
		visit(1);
		visit((int)hash);
		hash *= 33;
	}
}

/* Those come to 0 and stay there. */
void vanishing(int n)
{
	unsigned int width = 8;

	(void)n;
	while (more()) {
		visit(1);
		visit((int)width);
		width >>= 1;
	}
}

void overflowing(int n)
{
	unsigned int width = 1u << 30;

	(void)n;
	while (more()) {
		visit(1);
		visit((int)width);
		width <<= 1;
	}
}

void byte(int n)
{
	unsigned char count = 254;

	(void)n;
	while (more()) {
		visit(0);
		count++;
	}
}

void half_word(int n)
{
	short count = 32766;

	(void)n;
	while (more()) {
		visit(0);
		count++;
	}
}

void masked(int n)
{
	unsigned int slot = 0;

	(void)n;
	while (more()) {
		visit(0);
		slot = (slot + 1) & 3;
	}
}

void shifted(int n)
{
	unsigned int slot = 0;

	(void)n;
	while (more()) {
		visit(0);
		slot = (slot + 1) << 30 >> 30;
	}
}

/* Through 0, but always in one direction. */
void around(int n)
{
	for (unsigned int i = -2u; i != (unsigned int)n - 2; i++)
		visit(0);
}

/* By how much depends on the way. */
void uneven(int n)
{
	int k = 0;

	while (k < 3 * n) {
		visit(0);
		if (which) {
			k += 3;
			continue;
		}
		k++;
		visit(1);
	}
}

void reset(int n)
{
	int k = 0;

	(void)n;
	while (more()) {
		visit(0);
		if (++k == 2)
			k = 0;
	}
}

__attribute__((noipa)) static void skip(int *value)
{
	*value += which ? 5 : -1;
}

/* By way of a copy that another function changes. */
void lent(int n)
{
	int i = 0;

	(void)n;
	while (more()) {
		int next = i;

		visit(0);
		skip(&next);
		i = next + 1;
	}
}

void lent_part(int n)
{
	int i = 0;

	(void)n;
	while (more()) {
		int next[2] = {0, i};

		visit(0);
		skip(next + (which != 9));
		i = next[1] + 1;
	}
}

static int compare(const void *a, const void *b)
{
	visit(1);
	visit(2);
	return *(const int *)a - *(const int *)b;
}

/* The loop is in a library. */
void searched(int n)
{
	int values[] = {4, 3, 2, 1}, key = which + 9;
	size_t num = (size_t)n;

	lfind(&key, values, &num, sizeof(values[0]), compare);
}

__attribute__((noipa, noreturn)) static void die(void)
{
	visit(9);
	exit(3);
}

/* What looks like a way is none. */
void dead(int n)
{
	if (which) {
		visit(n);
		die();
	}
	visit(2);
	visit(3);
}

/* The comparison before the table has nothing to do with it. */
void unbounded(int n)
{
	unsigned int some = (unsigned int)which / 8;

	visit(0);
	while (more()) {
		if (some > 1)
			return;
		switch (which & 7) {
		case 0:
			visit(10);
			visit(11);
			break;
		case 1:
			visit(20);
			visit(21);
			visit(22);
			break;
		case 2:
			visit(30);
			return;
		case 3:
			visit(40);
			visit(n);
			break;
		case 4:
			visit(50);
			visit(n);
			visit(51);
			break;
		case 5:
			visit(60);
			visit(n + 1);
			break;
		case 6:
			visit(70);
			which = 4;
			break;
		case 7:
			visit(80);
			which = 1;
			break;
		}
	}
}
