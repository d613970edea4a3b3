/* SPDX-License-Identifier: BSD-3-Clause
 * Correct programs that strain a library which looks on: by the word. What it prints and its
 * status must be the same with and without the recorder. It needs one rank and no launcher. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int how_many; /* the second word */

/* ---- Much of everything ---- */

/* Communicators that are made, named, used and freed, and some that stay. */
static void communicators(void)
{
	MPI_Comm kept[100], comm;
	int in = 1, out, sum = 0;

	for (int i = 0; i < 100; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &kept[i]);
	for (int i = 0; i < how_many; i++) {
		MPI_Comm_dup(kept[i % 100], &comm);
		MPI_Comm_set_name(comm, i % 2 ? "odd" : "even");
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
		sum += out;
		MPI_Comm_free(&comm);
	}
	for (int i = 0; i < 100; i++)
		MPI_Comm_free(&kept[i]);
	printf("%d communicators\n", sum);
}

/* All in progress at the same time, so more than the recorder has room for. */
static void requests(void)
{
	MPI_Request *all = calloc(how_many, sizeof(*all));
	int *in = calloc(how_many, sizeof(*in)), num = 0, flag;
	MPI_Status status;

	for (int i = 0; i < how_many; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, 0, i % 1000, MPI_COMM_SELF, &all[i]);
	for (int i = 0; i < 1000; i++)
		MPI_Testany(1000, all + i, &flag, &flag, MPI_STATUS_IGNORE);
	for (int i = 0; i < 1000; i++)
		MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
	MPI_Waitall(1000, all, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 1000; i++)
		num += in[i] == i;
	for (int i = 1000; i < how_many; i++) {
		MPI_Cancel(&all[i]);
		MPI_Wait(&all[i], &status);
		MPI_Test_cancelled(&status, &flag);
		num += flag;
	}
	printf("%d requests\n", num);
}

static void *thread_main(void *sum)
{
	int in = 1, out;

	for (int i = 0; i < 3; i++) {
		MPI_Sendrecv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, &out, 1, MPI_INT, MPI_PROC_NULL, 0,
			     MPI_COMM_SELF, MPI_STATUS_IGNORE);
		__atomic_fetch_add((int *)sum, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Small stacks, many at a time. */
static void threads(void)
{
	pthread_t *all = calloc(how_many, sizeof(*all));
	pthread_attr_t attr;
	int sum = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (int i = 0; i < how_many; i++)
		if (pthread_create(&all[i], &attr, thread_main, &sum) != 0)
			exit(9);
	for (int i = 0; i < how_many; i++)
		pthread_join(all[i], NULL);
	printf("%d calls of threads\n", sum);
}

/* ---- Other ways out of a call, and into one ---- */

static volatile sig_atomic_t num_signals;

static void count_signal(int number)
{
	(void)number;
	num_signals++;
}

static void start_timer(void (*handler)(int), int flags, int microseconds)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	const struct itimerval every = {{0, microseconds}, {0, microseconds}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_timer(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &never, NULL);
}

/* Signals on a stack of their own, that come at any time while calls are made. */
static void storm(void)
{
	const stack_t stack = {.ss_size = 64 << 10, .ss_sp = malloc(64 << 10)};
	int in = 1, out, sum = 0;

	sigaltstack(&stack, NULL);
	start_timer(count_signal, SA_ONSTACK | SA_RESTART, 200);
	while (num_signals < how_many) {
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		sum += out != 1;
	}
	stop_timer();
	printf("%d wrong in a storm\n", sum);
}

static void add(void *in, void *inout, int *num, MPI_Datatype *type)
{
	int size;

	/* MPI from within MPI. */
	MPI_Type_size(*type, &size);
	MPI_Send(&size, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
	for (int i = 0; i < *num; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static int num_copies, num_deletes;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)key;
	(void)extra;
	MPI_Barrier(comm);
	*(void **)out = in;
	*flag = 1;
	num_copies++;
	return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	MPI_Barrier(MPI_COMM_SELF);
	num_deletes++;
	return num_deletes == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* MPI_Comm_free that an attribute refuses at first. */
static void callbacks(void)
{
	int in[4] = {1, 2, 3, 4}, out[4] = {0}, key, status;
	MPI_Comm comm, copy;
	MPI_Op op;

	MPI_Op_create(add, 1, &op);
	MPI_Reduce_local(in, out, 4, MPI_INT, op);
	MPI_Allreduce(in, out, 4, MPI_INT, op, MPI_COMM_SELF);
	MPI_Op_free(&op);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
	MPI_Comm_set_attr(comm, key, in);
	MPI_Comm_dup(comm, &copy);
	status = MPI_Comm_free(&copy) != MPI_SUCCESS;
	if (copy != MPI_COMM_NULL && status)
		MPI_Comm_free(&copy);
	MPI_Comm_free(&comm);
	printf("sum %d, refused %d, copies %d, deletes %d\n", out[3], status, num_copies,
	       num_deletes);
}

/* ---- Processes ---- */

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *do_nothing(void *ignored)
{
	return ignored;
}

/* Children that do not exec, vfork(), and a program without MPI. */
static void processes(void)
{
	pid_t child = fork();

	if (child == 0) {
		/* No MPI in it: but a thread. */
		pthread_t thread;
		pthread_create(&thread, NULL, do_nothing, NULL);
		pthread_join(thread, NULL);
		_exit(3);
	}
	printf("fork %d", status_of(child));
	child = vfork();
	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(4);
	}
	printf(", vfork %d, shell %d\n", status_of(child), system("exit 5") >> 8);
}

/* ---- Poverty ---- */

/* A call path of its own for each `way`. */
static void turn(int depth, unsigned way);

static __attribute__((noinline)) void walk(int depth, unsigned way)
{
	int out = 1;

	if (depth == 0)
		MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
	else if (way & 1)
		turn(depth - 1, way >> 1);
	else
		walk(depth - 1, way >> 1);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void turn(int depth, unsigned way)
{
	walk(depth, way);
	__asm__ volatile("" ::: "memory");
}

static void paths(void)
{
	for (unsigned way = 0; way < 2048; way++)
		walk(11, way);
	communicators();
	requests();
}

/* None is to be had while there are new call paths. */
static void no_descriptors(void)
{
	struct rlimit limit = {64, 64};
	int num = 0;

	setrlimit(RLIMIT_NOFILE, &limit);
	while (open("/dev/null", O_RDONLY) >= 0)
		num++;
	for (unsigned way = 0; way < 2048; way++)
		walk(11, way);
	for (int fd = 3; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			printf("closed %d\n", fd);
	printf("no descriptors: %d\n", num > 0);
}

/* ---- All of them ---- */

static void finalize(void)
{
	MPI_Finalize();
}

static const struct {
	const char *word;
	void (*run)(void);
} words[] = {
	{"communicators", communicators},
	{"requests", requests},
	{"threads", threads},
	{"storm", storm},
	{"callbacks", callbacks},
	{"processes", processes},
	{"no-descriptors", no_descriptors},
	{"paths", paths},
};

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	int provided;

	how_many = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(word, "exec") == 0 && how_many > 0) {
		MPI_Init(NULL, NULL);
		MPI_Finalize();
		execl(argv[0], argv[0], "exec", "0", (char *)NULL);
	}
	MPI_Init_thread(NULL, NULL,
			strcmp(word, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			words[i].run();
	fflush(stdout);
	if (strcmp(word, "callbacks") == 0)
		atexit(finalize);
	else
		MPI_Finalize();
	puts("end");
	return 0;
}
