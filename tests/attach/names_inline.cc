// SPDX-License-Identifier: BSD-3-Clause
// See names_c.c. Optimized: functions are inlined into others, the program's own and the library's.
#include <algorithm>

namespace
{
int results[4];

// The library's function is the innermost.
struct Table {
	int (*probe)();
	void fill()
	{
		std::generate(results, results + 4, probe); // line 14
	}
};
} // namespace

extern "C" int call_fill(int (*probe)())
{
	Table table = {probe};
	table.fill(); // line 22
	return results[0] + results[3];
}

// What the library calls is the innermost.
extern "C" int call_lambda(int (*probe)())
{
	auto again = [probe] {
		return probe() + 1; // line 30
	};
	std::generate(results, results + 4, again); // line 32
	return results[0] + results[3];
}
