/* SPDX-License-Identifier: BSD-3-Clause
 * What must be there before a command runs. */
#include "analysis/evidence/evidence.h"
#include "model/job/job.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/session.h"

int command_check_needs(struct session *session, unsigned flags, struct pdb_error *err)
{
	char end[128];
	bool has_waits = session->job && (session->job->model ||
					  (session->evidence && session->evidence->has_queues));

	if ((flags & (CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_NEEDS_MODEL)) && !session->job)
		return error_set(err, ERROR_NOT_FOUND,
				 "no job: start pdb with --pid, --load or --core");
	if ((flags & CMD_NEEDS_LIVE) && session->snapshot)
		return error_set(err, ERROR_GONE,
				 "this needs the job's processes, and %s is a "
				 "snapshot of them",
				 session->snapshot);
	if ((flags & CMD_NEEDS_LIVE) && session->has_cores)
		return error_set(err, ERROR_GONE,
				 "this needs the job's processes, and only their cores are "
				 "there;\nfor the variables of a rank: gdb EXECUTABLE CORE");
	if ((flags & CMD_NEEDS_LIVE) && session_has_ended(session)) {
		session_describe_end(session, end, sizeof(end));
		return error_set(err, ERROR_GONE,
				 "%s; its last snapshot is still "
				 "here for lp, groups, graph, why, bt and save",
				 end);
	}
	if (((flags & CMD_NEEDS_MODEL) && !session->job->model) ||
	    ((flags & CMD_NEEDS_WAITS) && !has_waits))
		return error_set(
			err, ERROR_NOT_FOUND,
			"no recorder in this job, so no models: lp, groups, order, bt, tree%s "
			"and watch go by stacks.\n"
			"Start the job with \"pdb run -- mpirun ...\" next time.",
			has_waits ? ", waits, why" : "");
	return 0;
}

int command_refuse_words(const struct command *command, struct pdb_error *err)
{
	return error_set(err, ERROR_USAGE, "usage: %s", command->usage);
}

int command_check(struct session *session, const struct command *command, const struct args *args,
		  struct pdb_error *err)
{
	if (args->num_words < (size_t)command->min_words ||
	    (command->max_words >= 0 && args->num_words > (size_t)command->max_words))
		return command_refuse_words(command, err);
	return command_check_needs(session, command->flags, err);
}
