/* SPDX-License-Identifier: BSD-3-Clause
 * Exceptions: ways that no jump shows. tests/unit/test_order.c says what is expected of each. */
extern "C" {
#include "order.h"
}

__attribute__((noipa)) static void fail()
{
	throw 1;
}

/* What is done about a failure is in the loop, too. */
void caught(int n)
{
	for (int i = 0; i < n; i++) {
		visit(1);
		try {
			fail();
		} catch (int) {
			visit(2);
			visit(3);
		}
		visit(4);
	}
}

/* An attempt that failed is made again. */
void retried(int n)
{
	int i = 0;

	(void)n;
	while (more()) {
		try {
			visit(1);
			if (i == 2)
				fail();
			i++;
		} catch (int) {
			i = 0;
		}
	}
}
