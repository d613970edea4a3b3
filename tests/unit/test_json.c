/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/job/rankset.h"
#include "render/text/json.h"
#include "tests/unit/unit.h"

/* What other people's programs may say. */
static const struct {
	const char *text, *json;
} quotes[] = {
	{"", "\"\""},
	{"halo() at a.c:12", "\"halo() at a.c:12\""},
	{"say \"no\" \\ yes", "\"say \\\"no\\\" \\\\ yes\""},
	{"a\nb\tc\rd", "\"a\\nb\\tc\\u000dd\""},
	{"\033[31mred\177", "\"\\u001b[31mred\\u007f\""},
	{"Gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x86\x92 \xf0\x9f\x90\x9b",
	 "\"Gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x86\x92 \xf0\x9f\x90\x9b\""},
	/* Bytes that begin or go on with nothing, C1 controls. */
	{"\x80"
	 "a\xff\xc3",
	 "\"\\ufffda\\ufffd\\ufffd\""},
	{"\xc2\x9b"
	 "31m",
	 "\"\\u009b31m\""},
	/* Characters that hide or turn the direction. */
	{"a\u202eb\U000e0001", "\"a\\u202eb\\udb40\\udc01\""},
	/* Longer than need be, half of a surrogate pair, beyond the last character. */
	{"\xc0\xaf", "\"\\ufffd\\ufffd\""},
	{"\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\""},
	{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
	{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
	{"</script><b>", "\"</script><b>\""},
};

static void test_quote(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		json_quote(out, quotes[i].text);
		fclose(out);
		assert_string_equal(text, quotes[i].json);
		free(text);
	}
}

static void test_values(void **state)
{
	struct rankset *ranks = rankset_create();
	char *text = NULL;
	size_t size = 0;
	struct json json = {.out = open_memstream(&text, &size)};

	(void)state;
	rankset_add_range(ranks, 0, 2);
	rankset_add(ranks, 8);
	json_object(&json, NULL);
	json_array(&json, "none");
	json_end_array(&json);
	json_array(&json, "numbers");
	json_int(&json, NULL, -1);
	json_count(&json, NULL, UINT64_MAX);
	json_real(&json, NULL, 0.5);
	json_real(&json, NULL, NAN);
	json_seconds(&json, NULL, 1500000999);
	json_end_array(&json);
	json_object(&json, "in \"it\"");
	json_ranks(&json, "ranks", ranks);
	json_ranks(&json, "no ranks", NULL);
	json_end_object(&json);
	json_text(&json, "text", NULL);
	json_bool(&json, "is", true);
	json_raw(&json, "raw", "[1]");
	json_end_object(&json);
	fclose(json.out);
	assert_string_equal(
		text, "{\"none\": [], \"numbers\": [-1, 18446744073709551615, 0.5, null, "
		      "1.500000], \"in \\\"it\\\"\": {\"ranks\": \"0-2,8\", \"no ranks\": \"\"}, "
		      "\"text\": null, \"is\": true, \"raw\": [1]}");
	free(text);
	rankset_destroy(ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
