/* SPDX-License-Identifier: BSD-3-Clause
 * Which directories are allowed; what is run of them shows tests/shell/job.sh. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/script/safe_paths.h"
#include "tests/unit/unit.h"

static void directories(void **state)
{
	char *folder = xstrdup("/tmp/pdb-test-XXXXXX");
	struct safe_paths safe = {0};
	struct pdb_error err;
	char *real, *path, *link;

	(void)state;
	assert_non_null(mkdtemp(folder));
	real = realpath(folder, NULL);
	assert_false(safe_paths_contain(&safe, real));

	/* By another name. */
	link = xasprintf("%s/link", folder);
	assert_int_equal(symlink(folder, link), 0);
	assert_int_equal(safe_paths_add(&safe, link, &err), 0);
	assert_true(safe_paths_contain(&safe, real));
	path = xasprintf("%s/below/it", real);
	assert_true(safe_paths_contain(&safe, path));
	free(path);
	path = xasprintf("%s-not", real);
	assert_false(safe_paths_contain(&safe, path));
	free(path);
	assert_false(safe_paths_contain(&safe, "/"));
	assert_false(safe_paths_contain(&safe, "/tmp"));
	unlink(link);
	free(link);

	setenv("HOME", folder, 1);
	safe_paths_clear(&safe);
	assert_false(safe_paths_contain(&safe, real));
	assert_int_equal(safe_paths_add(&safe, "~", &err), 0);
	assert_true(safe_paths_contain(&safe, real));
	safe_paths_clear(&safe);
	assert_int_equal(safe_paths_add(&safe, "/", &err), 0);
	assert_true(safe_paths_contain(&safe, "/anything"));
	safe_paths_clear(&safe);

	rmdir(folder);
	free(folder);
	free(real);
}

static void refused(void **state)
{
	struct safe_paths safe = {0};
	struct pdb_error err;

	(void)state;
	assert_int_equal(safe_paths_add(&safe, "/no/such/folder", &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_int_equal(safe_paths_add(&safe, "/dev/null", &err), -1);
	assert_non_null(strstr(err.text, "is no directory"));
	assert_int_equal(safe.num, 0);
	safe_paths_clear(&safe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
