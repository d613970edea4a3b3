/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/regular_file.h"
#include "tests/unit/unit.h"

/* Everything that can have a name, in a directory of its own. */
static void make(int dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int file = openat(dir, "file", O_WRONLY | O_CREAT | O_EXCL, 0600);
	int stream = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(write(file, "text", 4), 4);
	close(file);
	assert_int_equal(symlinkat("file", dir, "link"), 0);
	assert_int_equal(symlinkat("/dev/null", dir, "device"), 0);
	assert_int_equal(mkdirat(dir, "directory", 0700), 0);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(fchdir(dir), 0);
	assert_int_equal(bind(stream, (struct sockaddr *)&address, sizeof(address)), 0);
	close(stream);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name;
		int flags, error;
	} cases[] = {
		{"file", 0, 0},
		{"file", O_NOFOLLOW, 0},
		{"link", 0, 0},
		{"link", O_NOFOLLOW, ELOOP},
		{"directory", 0, ENXIO},
		{"fifo", 0, ENXIO},
		{"socket", 0, ENXIO},
		{"device", 0, ENXIO},
		{"nothing", 0, ENOENT},
		{"file/on", 0, ENOTDIR},
		{"fifo", O_NOFOLLOW, ENXIO},
	};
	int dir = *(const int *)*state;

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct stat status = {.st_size = -1};
		char text[4];
		int fd = regular_file_open(dir, cases[i].name, cases[i].flags, &status);

		assert_int_equal(fd < 0 ? errno : 0, cases[i].error);
		assert_int_equal(status.st_size, fd < 0 ? -1 : 4);
		if (fd < 0)
			continue;
		assert_int_equal(read(fd, text, sizeof(text)), 4);
		assert_memory_equal(text, "text", 4);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
}

/* As the kernel tells it to others. */
static bool was_opened(int watch)
{
	char events[1024];

	return read(watch, events, sizeof(events)) > 0;
}

static void test_never_opened(void **state)
{
	int dir = *(const int *)*state, watch = inotify_init1(IN_NONBLOCK), fd;

	assert_int_equal(fchdir(dir), 0);
	assert_true(inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	assert_int_equal(regular_file_open(dir, "fifo", 0, NULL), -1);
	assert_false(was_opened(watch));
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_true(was_opened(watch));
	close(fd);
	close(watch);
}

static int set_up(void **state)
{
	static char path[] = "/tmp/pdb-kinds.XXXXXX";
	static int dir;

	if (!mkdtemp(path))
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make(dir);
	*state = &dir;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"file", "link", "device", "fifo", "socket"};
	char path[64], link[64];
	ssize_t length;
	int dir = *(int *)*state;

	for (size_t i = 0; i < NUM_OF(names); i++)
		unlinkat(dir, names[i], 0);
	unlinkat(dir, "directory", AT_REMOVEDIR);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	close(dir);
	return rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_never_opened),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
