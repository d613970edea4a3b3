// SPDX-License-Identifier: BSD-3-Clause
// Says that it is there, in deep(), and sleeps.
#include <unistd.h>

struct Sleeper {
	int num;
	int deep(int n);
};

int Sleeper::deep(int n)
{
	if (write(1, "x", 1) == 1)
		pause();
	return num + n;
}

int main()
{
	Sleeper sleeper = {1};

	return sleeper.deep(2);
}
