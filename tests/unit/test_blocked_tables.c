/* SPDX-License-Identifier: BSD-3-Clause
 * Recorded tables of /proc, as several kernels write them. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "attach/blocked/blocked.h"
#include "attach/blocked/fd_object.h"
#include "attach/blocked/file_locks.h"
#include "attach/blocked/mounts.h"
#include "attach/blocked/open_by.h"
#include "attach/blocked/sockets.h"
#include "attach/blocked/system_call.h"

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static void test_parse_call(void **state)
{
	static const char read_text[] = "0 0x3 0x7f91d56c6000 0x20000 0x7f91d5755b60 0xffffffff "
					"0x0 0x7ffe81b48568 0x7f91d583e2ad\n";
	static const char *const bad[] = {"running\n", "-1 0x7ffe81b48568 0x7f91d583e2ad\n",
					  "",          "0 0x3 0x7f91d56c6000\n",
					  "x",         "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n"};
	struct system_call call;

	(void)state;
	assert_true(system_call_parse(read_text, &call));
	assert_int_equal(call.number, 0);
	assert_int_equal(call.args[0], 3);
	assert_int_equal(call.args[4], 0xffffffff);
	assert_int_equal(call.sp, 0x7ffe81b48568);
	assert_int_equal(call.pc, 0x7f91d583e2ad);
	for (size_t i = 0; i < NUM_OF(bad); i++)
		assert_false(system_call_parse(bad[i], &call));
}

static void test_mounts(void **state)
{
	static const char text[] =
		"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
		"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
		"31 27 0:26 / /dev/shm rw shared:4 master:1 - tmpfs tmpfs rw\n"
		"broken line\n"
		"98 27 0:99 / /\n"
		"40 27 0:52 / /scratch rw - lustre mds1@tcp:/scratch rw,flock\n"
		"41 27 0:53 / /home rw,noatime shared:9 - nfs4 server:/home rw,vers=4.2\n"
		"42 41 0:54 / /home/with\\040blank\\134 rw - fuse.sshfs a\\040b:/ rw\n"
		"43 27 0:55 / /scratch rw - xfs /dev/sdb rw\n"
		"44 27 0:56 / /cache rw - tmpfs none rw";
	static const struct {
		const char *path, *place;
		bool is_local;
	} cases[] = {
		{"/etc/passwd", "ext4, /dev/vda, mounted at /", true},
		{"/", "ext4, /dev/vda, mounted at /", true},
		{"/dev/shm/x", "tmpfs, mounted at /dev/shm", true},
		{"/cache", "tmpfs, mounted at /cache", true},
		{"/scratch/x", "xfs, /dev/sdb, mounted at /scratch", true},
		{"/scratchy", "ext4, /dev/vda, mounted at /", true},
		{"/home/x", "nfs4, server:/home, mounted at /home", false},
		{"/home/with blank\\/y", "fuse.sshfs, a b:/, mounted at /home/with blank\\", false},
		{"/proc/1", "-", false},
	};
	struct mount mount;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *place;

		assert_true(mounts_find_path(text, cases[i].path, &mount));
		place = mount_place(&mount);
		assert_string_equal(or_none(place), cases[i].place);
		assert_int_equal(mount_is_local(&mount), cases[i].is_local);
		free(place);
		mount_clear(&mount);
	}
	assert_true(mounts_find_id(text, 40, &mount));
	assert_string_equal(mount.source, "mds1@tcp:/scratch");
	assert_int_equal(mount.minor, 52);
	mount_clear(&mount);
	assert_false(mounts_find_id(text, 98, &mount));
	assert_false(mounts_find_id(text, 5, &mount));
	assert_false(mounts_find_path("", "/x", &mount));
	assert_false(mounts_find_path(text, "relative", &mount));
}

static FILE *open_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(file);
	return file;
}

static void test_lock_table(void **state)
{
	static const char text[] = "1: POSIX  ADVISORY  WRITE 700 fe:00:8466 0 9\n"
				   "2: POSIX  ADVISORY  WRITE 812 fe:00:8466 10 EOF\n"
				   "2: -> POSIX  ADVISORY  WRITE 813 fe:00:8466 10 19\n"
				   "2:  -> POSIX  ADVISORY  READ 814 fe:00:8466 15 16\n"
				   "broken\n"
				   "3: FLOCK  ADVISORY  WRITE 900 00:1a:77 0 EOF\n"
				   "3: -> FLOCK  ADVISORY  WRITE 901 00:1a:77 0 EOF\n"
				   "4: OFDLCK ADVISORY  WRITE -1 00:1a:78 0 EOF\n"
				   "4: -> POSIX  ADVISORY  WRITE 902 00:1a:78 0 EOF\n"
				   "5: LEASE  ACTIVE    WRITE 903 00:1a:79 0 EOF\n"
				   "6: FLOCK  ADVISORY  READ 904 00:1a:80 0 EOF\n"
				   "7: FLOCK  ADVISORY  READ 905 00:1a:80 0 EOF\n"
				   "8: POSIX  ADVISORY  WRITE 907 00:1a:81 0 EOF\n"
				   "8: -> OFDLCK ADVISORY  WRITE -1 00:1a:81 0 EOF\n";
	static const struct {
		struct file_lock wanted;
		pid_t holder;
	} cases[] = {
		{{0xfe, 0, 8466, false, 813}, 812}, {{0xfe, 0, 8466, false, 814}, 812},
		{{0xfe, 0, 8466, false, 999}, 0},   {{0xfe, 1, 8466, false, 813}, 0},
		{{0, 0x1a, 77, true, 901}, 900},    {{0, 0x1a, 77, true, 999}, 900},
		{{0, 0x1a, 77, true, 900}, 0},      {{0, 0x1a, 77, false, 901}, 0},
		{{0, 0x1a, 78, false, 902}, 0},     {{0, 0x1a, 79, true, 1}, 0},
		{{0, 0x1a, 80, true, 1}, 0},        {{0, 0x1a, 81, false, -1}, 907},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		FILE *file = open_text(text);

		if (file_locks_holder(file, &cases[i].wanted) != cases[i].holder)
			fail_msg("lock %zu", i);
		fclose(file);
	}
}

#define TCP_HEAD                                                                                   \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"
#define TCP_TAIL " 00000000:00000000 00:00000000 00000000  1000        0 "

/* The tables of UDP have the same lines. */
static char *udp_words(const char *table, uint64_t inode)
{
	FILE *file = open_text(table);
	struct socket_inet socket;

	assert_true(sockets_find_inode(file, inode, &socket));
	fclose(file);
	return socket_inet_words(&socket, false);
}

static void test_socket_tables(void **state)
{
	static const char tcp[] = TCP_HEAD
		"   0: 0100007F:0FA0 00000000:0000 0A" TCP_TAIL "1059 1 00000000cbbb2eff 100\n"
		"   1: 0100007F:0FA0 0100007F:1388 01" TCP_TAIL "1060 1 00000000cbbb2eff 100\n"
		"   2: 0100007F:1388 0100007F:0FA0 08" TCP_TAIL "1061 1 00000000cbbb2eff 100\n"
		"   3: 0200000A:1388 0300000A:0FA0 02" TCP_TAIL "1062 1 00000000cbbb2eff 100\n"
		"   4: 0200000A:138 broken\n"
		"   5: 00000000:0000 00000000:0000 07" TCP_TAIL "1064 1 00000000cbbb2eff 100\n";
	static const char tcp6[] =
		TCP_HEAD "   0: 00000000000000000000000001000000:0FA0 "
			 "00000000000000000000000001000000:1388 01" TCP_TAIL "70 1 0\n"
			 "   1: 0000000000000000FFFF00000300000A:0FA0 "
			 "0000000000000000FFFF00000200000A:1388 01" TCP_TAIL "71 1 0\n";
	static const struct {
		const char *table;
		uint64_t inode;
		const char *words;
	} cases[] = {
		{tcp, 1059, "the listening TCP socket 127.0.0.1:4000"},
		{tcp, 1060, "the TCP connection 127.0.0.1:4000 to 127.0.0.1:5000 (established)"},
		{tcp, 1061, "the TCP connection 127.0.0.1:5000 to 127.0.0.1:4000 (close-wait)"},
		{tcp, 1062, "the TCP connection 10.0.0.2:5000 to 10.0.0.3:4000 (syn-sent)"},
		{tcp, 1064, "a TCP socket without a connection"},
		{tcp6, 70, "the TCP connection [::1]:4000 to [::1]:5000 (established)"},
		{tcp6, 71, "the TCP connection 10.0.0.3:4000 to 10.0.0.2:5000 (established)"},
	};
	struct socket_inet socket, other;
	char *words;
	FILE *file;

	(void)state;
	/* The tables are words of a machine that stores the low byte first. */
	if (htonl(1) == 1)
		skip();
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		file = open_text(cases[i].table);
		assert_true(sockets_find_inode(file, cases[i].inode, &socket));
		fclose(file);
		words = socket_inet_words(&socket, true);
		assert_string_equal(words, cases[i].words);
		free(words);
	}
	words = udp_words(tcp, 1059);
	assert_string_equal(words, "the UDP socket 127.0.0.1:4000");
	free(words);
	words = udp_words(tcp, 1060);
	assert_string_equal(words, "the UDP socket 127.0.0.1:4000 to 127.0.0.1:5000");
	free(words);
	file = open_text(tcp);
	assert_false(sockets_find_inode(file, 1063, &socket));
	rewind(file);
	assert_true(sockets_find_inode(file, 1060, &socket));
	rewind(file);
	assert_true(sockets_find_other(file, &socket, &other));
	assert_int_equal(other.inode, 1061);
	rewind(file);
	assert_true(sockets_find_inode(file, 1062, &socket));
	fclose(file);
	file = open_text(tcp6);
	assert_true(sockets_find_other(file, &socket, &other));
	assert_int_equal(other.inode, 71);
	fclose(file);
}

static void test_unix_table(void **state)
{
	static const char text[] =
		"Num       RefCount Protocol Flags    Type St Inode Path\n"
		"000000004971f826: 00000003 00000000 00000000 0001 03  1055\n"
		"0000000000000000: 00000002 00000000 00010000 0001 01 1056 /run/with blank\n"
		"00000000d9a723dd: 00000003 00000000 00000000 0001 03  1057 @abstract\n";
	static const char *const words[] = {"a Unix socket",
					    "the listening Unix socket /run/with blank",
					    "the Unix socket @abstract", "-"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(words); i++) {
		FILE *file = open_text(text);
		char *found = sockets_find_unix(file, 1055 + i);

		assert_string_equal(or_none(found), words[i]);
		free(found);
		fclose(file);
	}
}

static void test_fd_info(void **state)
{
	static const char plain[] = "pos:\t0\nflags:\t0100002\nmnt_id:\t24\nino:\t3\n";
	static const char old[] = "pos:\t0\nflags:\t01\nmnt_id:\t15\n";
	static const char epoll[] =
		"pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n"
		"tfd:        5 events:       19 data:                5  pos:0 ino:61af sdev:7\n"
		"tfd:       12 events:       19 data:                c  pos:0 ino:62af sdev:7\n";
	struct fd_info info;
	int fds[1];

	(void)state;
	fd_info_parse(plain, &info);
	assert_int_equal(info.flags, 0100002);
	assert_int_equal(info.mount_id, 24);
	assert_int_equal(info.inode, 3);
	fd_info_parse(old, &info);
	assert_int_equal(info.flags & O_ACCMODE, O_WRONLY);
	assert_int_equal(info.inode, 0);
	fd_info_parse("", &info);
	assert_int_equal(info.mount_id, -1);
	assert_int_equal(fd_info_watched(epoll, fds, 1), 2);
	assert_int_equal(fds[0], 5);
	assert_int_equal(fd_info_watched(old, fds, 1), 0);
}

static void test_open_by_words(void **state)
{
	static const struct {
		struct open_by by;
		const char *words;
	} cases[] = {
		{{.is_whole = true}, "nobody has it open for writing"},
		{{.is_whole = false}, "-"},
		{{.is_whole = true, .is_own = true}, "only this process has it open for writing"},
		{{.is_own = true}, "this process has it open for writing"},
		{{.others = {{812, 'S', "sh"}}, .num_others = 1, .is_own = true, .is_whole = true},
		 "process 812 (sh) has it open for writing"},
		{{.others = {{812, 'T', "sh"}}, .num_others = 1},
		 "process 812 (sh, stopped) has it open for writing"},
		{{.others = {{812, 'S', "sh"}, {813, 'T', "tar"}}, .num_others = 5},
		 "processes 812 (sh), 813 (tar, stopped) and 3 more have it open for writing"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *words = open_by_words(&cases[i].by, "writing");

		assert_string_equal(or_none(words), cases[i].words);
		free(words);
	}
}

static void test_call_in_code(void **state)
{
	(void)state;
#if defined(__x86_64__)
	assert_int_equal(system_call_in_code((const uint8_t *)"\x90\xb8\x23\0\0\0\x0f\x05"), 35);
	assert_int_equal(system_call_in_code((const uint8_t *)"\x90\x90\x23\0\0\0\x0f\x05"), -1);
#elif defined(__aarch64__)
	/* mov x8, #0x65; svc #0 */
	assert_int_equal(system_call_in_code((const uint8_t *)"\xa8\x0c\x80\xd2\1\0\0\xd4"), 101);
#endif
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(blocked_call_name(SYS_read), "read");
	assert_string_equal(blocked_call_name(SYS_openat), "openat");
	assert_null(blocked_call_name(99999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_call),    cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_lock_table),    cmocka_unit_test(test_socket_tables),
		cmocka_unit_test(test_unix_table),    cmocka_unit_test(test_fd_info),
		cmocka_unit_test(test_open_by_words), cmocka_unit_test(test_call_in_code),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
