/* SPDX-License-Identifier: BSD-3-Clause
 * The entries of the command table, one or a few from each cmd_*.c. */
#ifndef PDB_SHELL_CMD_H
#define PDB_SHELL_CMD_H

struct command;

extern const struct command cmd_apropos, cmd_bt, cmd_classes, cmd_collectives, cmd_define, cmd_diff,
	cmd_echo, cmd_focus, cmd_gdb, cmd_graph, cmd_groups, cmd_help, cmd_history, cmd_info,
	cmd_lattice, cmd_loops, cmd_lp, cmd_messages, cmd_model, cmd_order, cmd_progress, cmd_quit,
	cmd_refresh, cmd_report, cmd_requests, cmd_safe_path, cmd_sample, cmd_save, cmd_set,
	cmd_shell, cmd_show, cmd_similar, cmd_source, cmd_suspects, cmd_trace, cmd_tree,
	cmd_tutorial, cmd_waits, cmd_watch, cmd_why;

/* Of the family "info". */
extern const struct command info_hosts, info_job, info_overhead, info_ranks, info_recorder;

#endif
