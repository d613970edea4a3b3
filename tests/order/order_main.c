/* SPDX-License-Identifier: BSD-3-Clause
 * usage: order FUNCTION STOP WHICH
 * Calls the function, which calls visit() again and again. At call number STOP it stops itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

int which;
static int num_visits, stop;

/* Nothing is known to its callers of what it does, so that they keep to the calling convention. */
__attribute__((noipa)) void visit(int place)
{
	(void)place;
	if (num_visits++ == stop)
		raise(SIGSTOP);
}

void visit_f(const int *place)
{
	visit(*place);
}

__attribute__((noipa)) int more(void)
{
	return 1;
}

static const struct {
	const char *name;
	void (*run)(int);
} functions[] = {
	{"up", up},
	{"down", down},
	{"down_from", down_from},
	{"doubled", doubled},
	{"halved", halved},
	{"divided", divided},
	{"pointers", pointers},
	{"two_calls", two_calls},
	{"until", until},
	{"jumps", jumps},
	{"nested", nested},
	{"branches", branches},
	{"choose", choose},
	{"sequence", sequence},
	{"array", array},
	{"recurse", recurse},
	{"inlined", inlined},
	{"strided", strided},
	{"changed", changed},
	{"longs", longs},
	{"irregular", irregular},
	{"endless", endless},
	{"part", part},
	{"part_down", part_down},
	{"triangle", triangle},
	{"random_numbers", random_numbers},
	{"hashed", hashed},
	{"vanishing", vanishing},
	{"overflowing", overflowing},
	{"byte", byte},
	{"half_word", half_word},
	{"masked", masked},
	{"shifted", shifted},
	{"around", around},
	{"uneven", uneven},
	{"reset", reset},
	{"lent", lent},
	{"lent_part", lent_part},
	{"searched", searched},
	{"dead", dead},
	{"unbounded", unbounded},
	{"caught", caught},
	{"retried", retried},
	{"up_f", up_f},
	{"down_f", down_f},
	{"nested_f", nested_f},
	{"while_f", while_f},
	{"by_reference_f", by_reference_f},
};

/* main() is to call the function outside any loop. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (i < sizeof(functions) / sizeof(functions[0]) && strcmp(functions[i].name, name))
		i++;
	return i;
}

int main(int argc, char **argv)
{
	size_t i = argc == 4 ? find(argv[1]) : 0;

	if (argc != 4 || i == sizeof(functions) / sizeof(functions[0]))
		return 2;
	stop = atoi(argv[2]);
	which = atoi(argv[3]);
	functions[i].run(4);
	return 3;
}
