/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/values/value_groups.h"
#include "attach/gdb/gdb_order.h"
#include "attach/gdb/gdb_process.h"
#include "attach/node/node.h"
#include "model/buffer.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "shell/answers/print_gdb.h"
#include "shell/interrupt.h"
#include "shell/remote_gdb.h"
#include "shell/session.h"

enum {
	MAX_AT_ONCE = 4,
	MAX_OUTPUT = 1 << 20,
	PATIENCE_S = 30, /* with one gdb, which reads symbols of large programs */
	STEP_MS = 20,
	MAX_READS = 256, /* in a row, so that one that prints without end is still ended */
	NUM_WORDS = 16,
};

/* Before and behind what it prints. */
#define VALUE "[pdb value]"
#define REASON "[pdb reason]"
#define END "[pdb end]"

/* In gdb's Python: up from the program's own frame, which pdb's script has selected, to one that
 * has the names. Looking a name up has no effects; so an expression is computed once. */
static const char script[] = "import gdb, re\\n"
			     "text = bytes.fromhex('%s').decode('utf-8', 'replace')\\n"
			     "wanted = bytes.fromhex('%s').decode('utf-8', 'replace')\\n"
			     "def name_of(frame):\\n"
			     "    name = frame.name() or ''\\n"
			     "    while re.search('<[^<>]*>', name):\\n"
			     "        name = re.sub('<[^<>]*>', '', name)\\n"
			     "    return name.split('(')[0].split('::')[-1]\\n"
			     "frame = gdb.selected_frame()\\n"
			     "reason = 'not in %%s()' %% wanted if wanted else 'no stack'\\n"
			     "for level in range(256):\\n"
			     "    if frame is None:\\n"
			     "        break\\n"
			     "    frame.select()\\n"
			     "    if not wanted or name_of(frame) == wanted:\\n"
			     "        try:\\n"
			     "            value = gdb.execute('print ' + text, to_string=True)\\n"
			     "            value = value.strip()\\n"
			     "            value = value.split(' = ', 1)[-1]\\n"
			     "            print('\\\\n" VALUE "' + value + '" END "')\\n"
			     "            reason = None\\n"
			     "            break\\n"
			     "        except gdb.error as error:\\n"
			     "            if reason is None or level == 0 or wanted or "
			     "'No symbol' not in str(error):\\n"
			     "                reason = str(error)\\n"
			     "            if 'No symbol' not in str(error):\\n"
			     "                break\\n"
			     "    frame = frame.older()\\n"
			     "if reason is not None:\\n"
			     "    print('\\\\n" REASON "' + reason + '" END "')\\n";

struct asked {
	struct value_reading *reading;
	const struct proc *proc;
	struct gdb_process process;
	int fds[2]; /* its terminal and its standard error; -1: closed */
	struct buffer output;
	uint64_t until_ns;
	bool is_running;
};

struct asking {
	struct session *session;
	struct arena *arena;
	const char *words[NUM_WORDS];
	size_t num_words;
	struct asked *asked;
	size_t num;
};

static const char *hex_of(struct arena *arena, const char *text)
{
	size_t length = strlen(text);
	char *ret = arena_alloc(arena, 2 * length + 1);

	for (size_t i = 0; i < length; i++)
		sprintf(ret + 2 * i, "%02x", (unsigned char)text[i]);
	ret[2 * length] = 0;
	return ret;
}

/* What would change the rank is forbidden before gdb attaches to it: later it cannot be. */
static void make_words(struct asking *asking, const char *expression, const char *function)
{
	const char *code = arena_printf(asking->arena, script, hex_of(asking->arena, expression),
					hex_of(asking->arena, function ? function : ""));
	const char *const words[] = {
		"-iex", "set may-write-memory off",
		"-iex", "set may-write-registers off",
		"-iex", "set may-insert-breakpoints off",
		"-iex", "set may-call-functions off",
		"-ex",  "set width 0",
		"-ex",  arena_printf(asking->arena, "python exec(\"%s\")", code),
	};

	asking->num_words = sizeof(words) / sizeof(words[0]);
	memcpy(asking->words, words, sizeof(words));
}

/* ---- What it prints ---- */

/* Between the mark and the last end, as a value may hold one, in one line. NULL: there is none. */
static char *between(struct arena *arena, const char *text, const char *mark)
{
	const char *begin = strstr(text, mark), *end = NULL;
	char *ret;

	if (!begin)
		return NULL;
	begin += strlen(mark);
	for (const char *at = begin; (at = strstr(at, END)) != NULL; at++)
		end = at;
	if (!end)
		return NULL;
	ret = arena_strndup(arena, begin, (size_t)(end - begin));
	for (char *at = ret; *at; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
	return ret;
}

static void take_output(struct asking *asking, struct value_reading *reading, const char *text)
{
	char *value = between(asking->arena, text, VALUE), *end;
	const char *reason = between(asking->arena, text, REASON);

	if (value && strcmp(value, "<optimized out>") != 0) {
		reading->text = value;
		reading->has_value = true;
		reading->number = strtod(value, &end);
		reading->is_number = end > value && !*end && strncmp(value, "0x", 2) != 0;
	} else if (value || reason) {
		reading->text = arena_printf(asking->arena, "gdb: %s", value ? value : reason);
	} else if (strstr(text, "Python scripting is not supported")) {
		reading->text = "gdb is built without Python there: gdb RANKS -ex \"print ...\"";
	} else {
		reading->text = "gdb did not tell; try: gdb RANKS -ex \"print ...\"";
	}
}

/* ---- On this node ---- */

static bool start_here(struct asking *asking, struct asked *asked)
{
	char *folder = getcwd(NULL, 0);
	const struct gdb_order order = {
		.rank = (uint32_t)asked->proc->rank,
		.num_words = (uint32_t)asking->num_words,
		.folder = folder ? folder : "/",
		.words = asking->words,
	};
	struct pdb_error err;

	asked->is_running =
		gdb_process_start(&asked->process, asked->proc->pid, &order, asked->proc->host,
				  &asked->fds[0], &asked->fds[1], &err) == 0;
	free(folder);
	asked->until_ns = monotonic_ns() + PATIENCE_S * UINT64_C(1000000000);
	if (!asked->is_running)
		asked->reading->text = arena_strdup(asking->arena, err.text);
	return asked->is_running;
}

static void read_some(struct asked *asked)
{
	char bytes[4096];

	for (size_t i = 0; i < 2; i++) {
		struct pollfd poll_fd = {.fd = asked->fds[i], .events = POLLIN};

		for (int n = 0; n < MAX_READS && asked->fds[i] >= 0 && poll(&poll_fd, 1, 0) > 0;
		     n++) {
			ssize_t num = read(asked->fds[i], bytes, sizeof(bytes));

			if (num <= 0) {
				close(asked->fds[i]);
				asked->fds[i] = -1;
			} else if (asked->output.num < MAX_OUTPUT) {
				buffer_put_bytes(&asked->output, bytes, (size_t)num);
			}
		}
	}
}

/* Take what there is. It ends when gdb has, or is to, and then has let the rank go. */
static void serve(struct asking *asking, struct asked *asked, bool is_over)
{
	uint64_t now_ns = monotonic_ns();

	read_some(asked);
	if (is_over || now_ns > asked->until_ns)
		gdb_process_end(&asked->process, now_ns);
	else
		gdb_process_check(&asked->process);
	if (!asked->process.has_ended)
		return;
	read_some(asked);
	for (size_t i = 0; i < 2; i++)
		if (asked->fds[i] >= 0)
			close(asked->fds[i]);
	buffer_put_bytes(&asked->output, "", 1);
	take_output(asking, asked->reading, (const char *)asked->output.bytes);
	/* A value that it had told before holds. */
	if (asked->process.ending_ns && !asked->reading->has_value)
		asked->reading->text = "gdb took too long";
	free(asked->output.bytes);
	asked->is_running = false;
}

static int run_here(struct asking *asking, struct pdb_error *err)
{
	size_t next = 0, num_running = 0;
	bool is_over = false;

	while (num_running || (next < asking->num && !is_over)) {
		for (; next < asking->num && num_running < MAX_AT_ONCE && !is_over; next++)
			if (asking->asked[next].proc && asking->asked[next].proc->is_local)
				num_running += start_here(asking, &asking->asked[next]);
		is_over |= !interrupt_sleep_until(monotonic_ns() + STEP_MS * UINT64_C(1000000));
		if (is_over)
			usleep(STEP_MS * 1000);
		for (size_t i = 0; i < next; i++)
			if (asking->asked[i].is_running) {
				serve(asking, &asking->asked[i], is_over);
				num_running -= !asking->asked[i].is_running;
			}
	}
	return is_over ? error_set(err, ERROR_INTERRUPTED, "interrupted") : 0;
}

/* ---- On others ---- */

static int run_there(struct asking *asking, struct asked *asked, struct pdb_error *err)
{
	struct daemons *daemons = session_daemons(asking->session, err);
	int output_fd = memfd_create("pdb-gdb", MFD_CLOEXEC);
	const struct remote_gdb gdb = {
		.rank = asked->proc->rank,
		.host = asked->proc->host,
		.words = asking->words,
		.num_words = asking->num_words,
		.output_fd = output_fd,
		.error_fd = output_fd,
		.patience_s = PATIENCE_S,
	};
	struct remote_gdb_end end = {.status = 0};
	int result = -1;
	char *text;

	if (output_fd < 0)
		return error_errno(err, "no memory for gdb's output");
	if (daemons)
		result = remote_gdb_run(daemons, &gdb, &end, err);
	if (result < 0 && end.is_lost)
		session_lose_daemons(asking->session, err);
	if (end.after)
		remote_gdb_tell_end(asked->proc, &end);
	text = arena_alloc(asking->arena, MAX_OUTPUT);
	ssize_t num = pread(output_fd, text, MAX_OUTPUT - 1, 0);
	text[num > 0 ? num : 0] = 0;
	close(output_fd);
	if (result == 0)
		take_output(asking, asked->reading, text);
	else
		asked->reading->text = arena_strdup(asking->arena, err->text);
	return result < 0 && err->code == ERROR_INTERRUPTED ? -1 : 0;
}

int print_gdb(struct session *session, struct arena *arena, const char *expression,
	      const char *function, const struct rankset *ranks, struct value_reading *readings,
	      struct pdb_error *err)
{
	struct asking asking = {.session = session, .arena = arena};
	int result;

	make_words(&asking, expression, function);
	asking.asked = arena_array(arena, (size_t)rankset_count(ranks), sizeof(*asking.asked));
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		struct asked *asked = &asking.asked[asking.num];
		const struct proc *proc = proctable_find(session->job->proctable, rank);

		readings[asking.num] = (struct value_reading){
			.rank = rank, .text = "pdb does not know its process"};
		*asked = (struct asked){.reading = &readings[asking.num++], .fds = {-1, -1}};
		if (!proc || proc->pid <= 0)
			continue;
		/* Another process may have its pid by now. */
		if (proc->is_local && !node_is_alive(session->node, rank))
			asked->reading->text = "its process has ended";
		else
			asked->proc = proc;
	}
	result = run_here(&asking, err);
	for (size_t i = 0; i < asking.num && result == 0; i++)
		if (asking.asked[i].proc && !asking.asked[i].proc->is_local)
			result = run_there(&asking, &asking.asked[i], err);
	session->is_outdated = true;
	return result;
}
