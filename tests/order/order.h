/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORDER_H
#define ORDER_H

extern int which;
void visit(int place);
void visit_f(const int *place);
int more(void); /* always 1 */

void up(int n), down(int n), down_from(int n), doubled(int n), halved(int n), divided(int n),
	pointers(int n), two_calls(int n), until(int n), jumps(int n), nested(int n),
	branches(int n), choose(int n), sequence(int n), array(int n), recurse(int n),
	inlined(int n), strided(int n), changed(int n), longs(int n), irregular(int n),
	endless(int n);
void part(int n), part_down(int n), triangle(int n), random_numbers(int n), hashed(int n),
	vanishing(int n), overflowing(int n), byte(int n), half_word(int n), masked(int n),
	shifted(int n), around(int n), uneven(int n), reset(int n), lent(int n), lent_part(int n),
	searched(int n), dead(int n), unbounded(int n);
void caught(int n), retried(int n);
void up_f(int n), down_f(int n), nested_f(int n), while_f(int n), by_reference_f(int n);

#endif
