/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/words/label.h"
#include "render/words/parts.h"
#include "tests/unit/hung_job.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static struct rankset *ranks(const char *text)
{
	struct rankset *set = NULL;
	struct pdb_error err;

	if (!*text)
		return rankset_create();
	assert_int_equal(rankset_decode(text, -1, &set, &err), 0);
	return set;
}

static void test_ranks(void **state)
{
	static const struct {
		const char *set;
		int width;
		const char *list, *counted, *who;
	} cases[] = {
		{"7", 20, "7", "1:[7]", "rank 7"},
		{"0-3", 20, "0-3", "4:[0-3]", "ranks 0-3"},
		{"0-3,8", 9, "0-3,8", "5:[0-3,8]", "ranks ..."},
		{"0-98,102-511", 18, "0-98,102-511", "509:[0-98,102-511]", "ranks 0-98,102-511"},
		{"0-98,102-511", 17, "0-98,102-511", "509:[0-98,...]", "ranks 0-98,..."},
		{"0-98,102-511", 13, "0-98,102-511", "509:[...]", "ranks ..."},
		{"0-98,102-511", 10, "0-98,...", "509:[...]", "ranks ..."},
		{"0-98,102-511", 8, "0-98,...", "509", "ranks ..."},
		{"0,2,4,6,8,10,12,14", 12, "0,2,4,6,...", "8:[0,2,...]", "ranks 0,..."},
		{"0,2,4,6,8,10,12,14", 3, "...", "8", "ranks ..."},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct rankset *set = ranks(cases[i].set);
		const char *list = label_rank_list(arena, set, cases[i].width);
		const char *counted = label_ranks(arena, set, cases[i].width);
		const char *who = label_who(arena, set, cases[i].width);

		assert_string_equal(list, cases[i].list);
		assert_string_equal(counted, cases[i].counted);
		assert_string_equal(who, cases[i].who);
		rankset_destroy(set);
	}
}

/* Whatever the set and the width: never wider, and all of it where it fits. */
static void test_rank_widths(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 300; i++) {
		struct rankset *set = rankset_create();
		const char *all, *list;

		for (int n = rand() % 60 + 1; n > 0; n--)
			rankset_add(set, rand() % 5000);
		all = label_rank_list(arena, set, 1000);
		for (int width = 3; width < 90; width++) {
			list = label_rank_list(arena, set, width);
			assert_true((int)strlen(list) <= width);
			if ((int)strlen(all) <= width)
				assert_string_equal(list, all);
			list = label_ranks(arena, set, width);
			assert_true((int)strlen(list) <= width);
		}
		rankset_destroy(set);
	}
}

static void test_times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{12345, "12 us"},
		{999999, "999 us"},
		{1000000, "1.0 ms"},
		{9999999, "9.9 ms"},
		{350 * SECOND / 1000, "350 ms"},
		{SECOND, "1.0 s"},
		{7290 * SECOND / 1000, "7.2 s"},
		{72 * SECOND, "72 s"},
		{119 * SECOND, "119 s"},
		{120 * SECOND, "2 min 0 s"},
		{3599 * SECOND, "59 min 59 s"},
		{11520 * SECOND, "3 h 12 min"},
		{183600 * SECOND, "2 d 3 h"},
		{UINT64_MAX, "213503 d 23 h"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_string_equal(label_time(cases[i].ns).text, cases[i].text);
}

static void test_time_ranges(void **state)
{
	static const struct {
		uint64_t min, max;
		const char *text;
	} cases[] = {
		{72 * SECOND, 72 * SECOND + 5, "72 s"},
		{12 * SECOND, 72 * SECOND, "12 to 72 s"},
		{SECOND / 2, 72 * SECOND, "500 ms to 72 s"},
		{130 * SECOND, 140 * SECOND, "2 min 10 s to 2 min 20 s"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_string_equal(label_time_range(arena, cases[i].min, cases[i].max),
				    cases[i].text);
}

static void test_functions(void **state)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"solve_", "solve_"},
		{"__solver_MOD_step", "__solver_MOD_step"},
		{"LAMMPS_NS::Verlet::run(int)", "LAMMPS_NS::Verlet::run"},
		{"void ns::sum<double>(int) const", "ns::sum"},
		{"std::vector<int, std::allocator<int> > ns::make<int>(int)", "ns::make"},
		{"(anonymous namespace)::step(int)", "(anonymous namespace)::step"},
		{"a::(anonymous namespace)::step(int)", "a::(anonymous namespace)::step"},
		{"Field::operator()(int) const", "Field::operator()"},
		{"Field::operator<<(int)", "Field::operator<<"},
		{"Field::operator bool() const", "Field::operator bool"},
		{"bool operator< <int>(A<int> const&)", "operator<"},
		{"operator_table(int)", "operator_table"},
		{"run(int)::{lambda(double)#1}::operator()(double) const",
		 "run::{lambda#1}::operator()"},
		{"halo(int) [clone .isra.0]", "halo"},
		{"std::function<void (int)>::operator()(int) const", "std::function::operator()"},
		{"f<(A)1>(int)", "f"},
		{"<module>", "<module>"},
		{"solve.<lambda>", "solve.<lambda>"},
		{"main.<lambda>.inner", "main.<lambda>.inner"},
		{"<int>f(int)", "f"},
		{"<broken", "<broken"},
		{"broken<", "broken"},
		{"(", "("},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_string_equal(label_function(arena, cases[i][0]), cases[i][1]);
}

static void test_places(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	struct job *job = &hung->job;
	uint32_t unknown = callpaths_intern(job->callpaths, CALLPATH_NONE, 0, 0x77, true);
	uint32_t in_mpi = hung->job.samples->samples[0].path;

	(void)state;
	assert_string_equal(label_place(&hung->view, hung_frame(hung, FRAME_WAITALL), LABEL_SHORT),
			    "halo() solver.c:131");
	assert_string_equal(label_place(&hung->view, hung_frame(hung, FRAME_WAITALL), LABEL_FULL),
			    "halo() at solver.c:131");
	assert_string_equal(label_place(&hung->view, in_mpi, LABEL_SHORT), "MPI_Allgather()");
	assert_string_equal(label_place(&hung->view, in_mpi, LABEL_FULL),
			    "MPI_Allgather() in libmpi.so.40");
	assert_string_equal(label_user_place(&hung->view, in_mpi, LABEL_SHORT),
			    "exchange() solver.c:141");
	assert_string_equal(label_place(&hung->view, unknown, LABEL_FULL), "solver+0x77");
	assert_string_equal(label_place(&hung->view, CALLPATH_NONE, LABEL_FULL), "?");
	assert_string_equal(label_state(&hung->view, SEG_STATE_ENTER(SITE_ALLGATHER), LABEL_SHORT),
			    "in MPI_Allgather, exchange() solver.c:141");
	assert_string_equal(label_state(&hung->view, SEG_STATE_EXIT(SITE_WAITALL), LABEL_FULL),
			    "computing after MPI_Waitall, halo() at solver.c:131");
	assert_string_equal(label_state(&hung->view, SEG_STATE_EXIT(SITE_START), LABEL_SHORT),
			    "before its first MPI call");
	assert_string_equal(label_loop(&hung->view, 0, LABEL_SHORT), "loop run() solver.c:120");
	assert_string_equal(label_loop(&hung->view, 0, LABEL_FULL), "loop run() at solver.c:120");
	hung_destroy(hung);
}

static void test_cxx_places(void **state)
{
	struct hung *hung =
		hung_create((struct hung_options){.size = 4, .culprit = 2, .is_cxx = true});
	uint32_t halo = hung_frame(hung, FRAME_WAITALL);

	(void)state;
	assert_string_equal(label_place(&hung->view, halo, LABEL_SHORT), "Physics::Comm::halo()");
	assert_string_equal(label_place(&hung->view, halo, LABEL_FULL),
			    "void Physics::Comm::halo<double>(std::vector<double, "
			    "std::allocator<double> >&) in "
			    "solver");
	assert_string_equal(label_loop(&hung->view, 0, LABEL_SHORT),
			    "loop in Physics::Integrator::run()");
	hung_destroy(hung);

	hung = hung_create(
		(struct hung_options){.size = 4, .culprit = 2, .is_cxx = true, .is_nested = true});
	assert_string_equal(label_loop(&hung->view, 1, LABEL_SHORT),
			    "loop in Physics::Comm::halo()");
	/* A loop around calls of the function whose loop it lies in. */
	hung->progress.loops[1].path = hung->progress.loops[0].path;
	assert_string_equal(label_loop(&hung->view, 1, LABEL_SHORT),
			    "inner loop in Physics::Integrator::run()");
	hung_destroy(hung);
}

/* A computing group is where its samples agree that it is, and not where they do not. */
static void test_computing(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 1});
	struct job *job = &hung->job;
	struct eqgroup *group = &hung->groups.groups[2];
	struct sample *sample = &job->samples->samples[1];
	uint32_t in_mpi = job->samples->samples[3].path, in_force = sample->path;
	uint32_t other =
		callpaths_intern(job->callpaths, hung_frame(hung, FRAME_STEP), 0, 0xa00, false);
	uint32_t libc = modules_intern(job->modules, "/lib/libc.so.6", NULL, 0);
	uint32_t in_read = callpaths_intern(job->callpaths, in_force, libc, 0xb00, false);
	uint32_t actors[] = {1, 3}, *own = group->actors;

	(void)state;
	names_set(job->names, in_read, &(struct name){.function = "read", .is_symbol = true});
	names_set(job->names, other,
		  &(struct name){.function = "compute_forces",
				 .file = "force.c",
				 .line = 90,
				 .is_symbol = true});
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing, compute_forces() force.c:88");
	assert_string_equal(label_where(&hung->view, group, LABEL_FULL),
			    "outside MPI, in compute_forces() at force.c:88");
	assert_string_equal(label_doing(&hung->view, group), "compute_forces()");
	/* Not all that is outside MPI computes. */
	sample->state = 'T';
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "stopped, compute_forces() force.c:88");
	assert_string_equal(label_where(&hung->view, group, LABEL_FULL),
			    "outside MPI, stopped, in compute_forces() at force.c:88");
	sample->state = 'S';
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "asleep, compute_forces() force.c:88");
	sample->path = in_read;
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "asleep in read(), compute_forces() force.c:88");
	assert_string_equal(label_where(&hung->view, group, LABEL_FULL),
			    "outside MPI, asleep in read(), in compute_forces() at force.c:88");
	sample->state = 'R';
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing, compute_forces() force.c:88");
	sample->path = in_force;
	/* Two threads in one function, at different lines; then in different functions. */
	group->actors = actors;
	group->num_actors = 2;
	job->samples->samples[3].path = other;
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing, compute_forces()");
	job->samples->samples[3].path = hung_frame(hung, FRAME_STEP);
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing after MPI_Waitall, halo() solver.c:131");
	assert_string_equal(label_doing(&hung->view, group), "after MPI_Waitall");
	group->actors = own;
	group->num_actors = 1;
	/* The sample was taken when the rank was inside MPI, or has failed, or is not there. */
	sample->path = in_mpi;
	assert_string_equal(label_doing(&hung->view, group), "after MPI_Waitall");
	sample->path = in_force;
	sample->status = SAMPLE_FAILED;
	assert_string_equal(label_doing(&hung->view, group), "after MPI_Waitall");
	sample->status = SAMPLE_COMPLETE;
	assert_string_equal(label_doing(&hung->view, group), "compute_forces()");
	hung_destroy(hung);
}

/* What is inlined is told by the program's own function, with the library's behind it; a loop by
 * the function that has all of its calls. */
static void test_inlined(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 1});
	struct job *job = &hung->job;
	struct eqgroup *group = &hung->groups.groups[2];
	uint32_t in_force = job->samples->samples[1].path;
	uint32_t run = hung_frame(hung, FRAME_STEP), other = hung_frame(hung, FRAME_REDUCE);
	const struct name force = {
		.function = "force", .file = "force.c", .line = 88, .is_symbol = true};
	const struct name library = {.function = "std::next<int>",
				     .file = "list.h",
				     .line = 5,
				     .is_symbol = true,
				     .is_library = true,
				     .caller = &force};
	const struct name at_120 = {
		.function = "run", .file = "run.c", .line = 120, .is_symbol = true};
	const struct name at_122 = {
		.function = "run", .file = "run.c", .line = 122, .is_symbol = true};
	struct name first = {.function = "step",
			     .file = "step.c",
			     .line = 7,
			     .is_symbol = true,
			     .caller = &at_120};
	struct name second = first;

	(void)state;
	names_set(job->names, in_force, &library);
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing, force() force.c:88");
	assert_string_equal(label_where(&hung->view, group, LABEL_FULL),
			    "outside MPI, in force() at force.c:88 (std::next<int>() at list.h:5)");
	names_set(job->names, run, &first);
	names_set(job->names, other, &at_122);
	assert_string_equal(label_loop(&hung->view, 0, LABEL_SHORT), "loop run() run.c:120");
	second.caller = &at_122;
	names_set(job->names, other, &second);
	assert_string_equal(label_loop(&hung->view, 0, LABEL_SHORT), "loop run() run.c:120");
	second.caller = &at_120;
	second.line = 9;
	names_set(job->names, other, &second);
	assert_string_equal(label_loop(&hung->view, 0, LABEL_SHORT), "loop step() step.c:7");
	hung_destroy(hung);
}

static void test_handler(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 1});
	struct job *job = &hung->job;
	struct eqgroup *group = &hung->groups.groups[2];
	uint32_t signals = modules_intern(job->modules, MODULES_SIGNAL, NULL, 0);
	uint32_t in_force = job->samples->samples[1].path, in_mpi = job->samples->samples[3].path;
	uint32_t signal, handler;

	(void)state;
	signal = callpaths_intern(job->callpaths, in_force, signals, 14, false);
	handler = callpaths_intern(job->callpaths, signal, 0, 0xc00, true);
	names_set(job->names, handler,
		  &(struct name){
			  .function = "tick", .file = "timer.c", .line = 20, .is_symbol = true});
	job->samples->samples[1].path = handler;
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing, tick() timer.c:20");
	assert_string_equal(
		label_where(&hung->view, group, LABEL_FULL),
		"outside MPI, in tick() at timer.c:20, handling signal 14 that interrupted "
		"compute_forces() at force.c:88");
	/* It has interrupted MPI, and does not wait in there. */
	signal = callpaths_intern(job->callpaths, in_mpi, signals, 0, false);
	handler = callpaths_intern(job->callpaths, signal, 0, 0xc00, true);
	names_set(job->names, handler,
		  &(struct name){
			  .function = "tick", .file = "timer.c", .line = 20, .is_symbol = true});
	job->samples->samples[1].path = handler;
	assert_string_equal(
		label_where(&hung->view, group, LABEL_FULL),
		"outside MPI, in tick() at timer.c:20, handling a signal that interrupted "
		"MPI_Allgather, exchange() at solver.c:141");
	hung_destroy(hung);
}

static void test_activities(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 1});
	struct eqgroup *group = &hung->groups.groups[2];
	struct model_lane *lane = &((struct model *)hung->job.model->lanes[1].model)->lanes[0];

	(void)state;
	group->activity = ACTIVITY_POLLING;
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "computing after MPI_Waitall, halo() solver.c:131");
	lane->poll_site = SITE_ISEND;
	assert_string_equal(label_where(&hung->view, group, LABEL_SHORT),
			    "polling MPI_Isend, halo() solver.c:125");
	assert_string_equal(label_doing(&hung->view, group), "polling MPI_Isend");
	group->activity = ACTIVITY_ENDED;
	assert_string_equal(label_where(&hung->view, group, LABEL_FULL),
			    "ended after MPI_Waitall, halo() at solver.c:131");
	hung_destroy(hung);
}

/* A rank that computes after the last call of an inner loop is in it as far as its stack agrees. */
static void test_left_loops(void **state)
{
	struct hung *hung =
		hung_create((struct hung_options){.size = 4, .culprit = 1, .is_nested = true});
	struct job *job = &hung->job;
	struct eqgroup *group = &hung->groups.groups[2];
	struct sample *sample = &job->samples->samples[1];
	struct job_loop *loops = hung->progress.loops;

	(void)state;
	assert_string_equal(parts_iterations(&hung->view, group), "412, about 1234");
	sample->path =
		callpaths_intern(job->callpaths, hung_frame(hung, FRAME_MAIN), 0, 0xb00, false);
	assert_string_equal(parts_iterations(&hung->view, group), "412");
	/* The stack was not seen whole. */
	sample->status = SAMPLE_INCOMPLETE;
	assert_string_equal(parts_iterations(&hung->view, group), "412, about 1234");
	/* Nothing in the paths tells the two loops apart; and nothing is said of the outermost. */
	sample->status = SAMPLE_COMPLETE;
	loops[0].path = loops[1].path;
	assert_string_equal(parts_iterations(&hung->view, group), "412, about 1234");
	hung_destroy(hung);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),      cmocka_unit_test(test_rank_widths),
		cmocka_unit_test(test_times),      cmocka_unit_test(test_time_ranges),
		cmocka_unit_test(test_functions),  cmocka_unit_test(test_places),
		cmocka_unit_test(test_cxx_places), cmocka_unit_test(test_computing),
		cmocka_unit_test(test_inlined),    cmocka_unit_test(test_handler),
		cmocka_unit_test(test_activities), cmocka_unit_test(test_left_loops),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
