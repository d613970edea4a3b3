/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb and its daemons have agreed on. pdbd is a program for each MPI, pdbd-openmpi and
 * pdbd-mpich, that is started once on each node of the job as one MPI job of its own. */
#ifndef PDB_ATTACH_PDBD_H
#define PDB_ATTACH_PDBD_H

/* The invitation to pdb's connection: in the daemons' environment only, since command lines can be
 * seen by everybody on a node. */
#define PDBD_ENV_INVITATION "PDB_INVITATION"

/* Kinds of frames from pdb, and of the answers to them. An answer begins with the length (a
 * uint32_t) of a text that names the hosts that are missing in it, a blank between two, and that
 * text; then comes the merged answer. */
enum pdbd_kind {
	/* Which hosts there are: lines "DAEMON HOST". */
	PDBD_HOSTS = 1,
	/* Here is the job (daemon_job.h). Answer: how many of its processes live, a uint32_t. */
	PDBD_JOB = 2,
	/* The same question without the job. Asked by the first daemon itself every few seconds,
	 * too: when no process is left, the daemons end. */
	PDBD_LIVING = 3,
	/* End. Not answered. */
	PDBD_QUIT = 4,
};

#endif
