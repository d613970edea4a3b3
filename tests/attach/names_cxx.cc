// SPDX-License-Identifier: BSD-3-Clause
// See names_c.c.

namespace solver
{
template <typename T> struct Grid {
	__attribute__((noinline, noipa)) T relax(T (*probe)());
};

template <typename T> T Grid<T>::relax(T (*probe)())
{
	return probe() + 1; // line 12
}

namespace
{
__attribute__((noinline)) int in_anonymous(int (*probe)())
{
	return probe() + 1; // line 19
}
} // namespace
} // namespace solver

extern "C" int call_relax(int (*probe)())
{
	return solver::Grid<int>().relax(probe) + 1;
}

extern "C" int call_in_anonymous(int (*probe)())
{
	return solver::in_anonymous(probe) + 1;
}
