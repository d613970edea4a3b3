# SPDX-License-Identifier: BSD-3-Clause
# Write the table of calls for errors.c: each function that the recorder wraps, and what its arguments are.
#
#	gawk -f errors.gawk mpi_calls.def PREPROCESSED_MPI_H >errors_calls.h
#
# The first file names the functions, the second (gcc -E -P of mpi.h) gives their prototypes.

# These would end the job, start another, or wait for one.
BEGIN {
	num_left_out = split("MPI_Init MPI_Init_thread MPI_Finalize MPI_Abort MPI_Session_init MPI_Comm_spawn " \
			     "MPI_Comm_spawn_multiple MPI_Comm_connect MPI_Comm_accept MPI_Comm_join MPI_Open_port " \
			     "MPI_Publish_name MPI_Unpublish_name MPI_Lookup_name MPI_Grequest_start", names_left_out)
	for (i = 1; i <= num_left_out; i++)
		left_out[names_left_out[i]] = 1
}

FNR == NR {
	add_calls()
	next
}

function add_call(name, class_of_it, shape, constants)
{
	if (!(name in left_out) && !(gensub(/_c$/, "", 1, name) in left_out))
		order[++num_calls] = name
}

{ text = text " " $0 }

# Which pool of values an argument is from: an enum kind of errors.c.
function kind_of(type, name, function_name)
{
	if (type ~ /^MPI_(Comm|Datatype|Win|File|Group|Op|Info|Errhandler|Session)$/)
		return toupper(substr(type, 5))
	if (type == "MPI_Request")
		return "REQUEST"
	if (type ~ /^MPI_Request ?\*$/)
		return function_name ~ /^MPI_(Wait|Test|Start|Cancel|Request_|Parrived)/ ? "REQUESTS" : "NEW_REQUEST"
	if (type ~ /^MPI_Status ?\*$/)
		return "STATUSES"
	if (type ~ /^MPI_Message ?\*$/)
		return function_name ~ /recv/ ? "MESSAGE" : "NEW_MESSAGE"
	if (type ~ /^MPI_(Comm|Win|File|Group|Session) ?\*$/) {
		sub(/ ?\*/, "", type)
		return (function_name ~ /_(free|disconnect|close|finalize)$/ ? "OLD_" : "NEW_") toupper(substr(type, 5))
	}
	if (type ~ /^MPI_Datatype ?\*$/)
		return "TYPES"
	if (type ~ /^MPI_Info ?\*$/)
		return "INFOS"
	if (type ~ /^(int|MPI_Aint|MPI_Count) ?\*$/)
		return type ~ /^int/ ? "INTS" : "LONGS"
	if (type ~ /char/)
		return name == "filename" ? "PATH" : "TEXT"
	if (type ~ /\*/)
		return name == "baseptr" || name == "buffer_addr" ? "POINTER" : name ~ /^(sendbuf|recvbuf)$/ ? "IN_PLACE" : "BUFFER"
	if (name ~ /^(dest|source)$/)
		return function_name ~ /endrecv/ ? "PARTNERS" : "PEER"
	if (name ~ /^(rank|target_rank|root|local_leader|remote_leader)$/)
		return "RANK"
	if (name ~ /tag$/)
		return "TAG"
	if (name == "lock_type")
		return "LOCK"
	if (name == "amode")
		return "AMODE"
	if (name == "split_type")
		return "SPLIT"
	if (name ~ /^(assert|color|key|disp|offset|reorder|target_disp|whence|high)$/)
		return "ZERO"
	return "COUNT"
}

END {
	num = split(text, statements, ";")
	for (i = 1; i <= num; i++)
		if (match(statements[i], /(^|[^A-Za-z_0-9])int +(MPI_[A-Za-z_0-9]+) *\((.*)\)[^()]*$/, m))
			prototype[m[2]] = m[3]
	for (i = 1; i <= num_calls; i++) {
		name = order[i]
		if (!(name in prototype))
			continue
		kinds = arguments = ""
		n = parameters(prototype[name], names, types)
		for (j = 1; j <= n; j++) {
			kind = kind_of(types[j], names[j], name)
			kinds = kinds "KIND_" kind ", "
			arguments = arguments (j > 1 ? ", " : "") \
				    sprintf("VALUE_%s(%d)", kind, j - 1)
		}
		printf "static int call_%s(void)\n{\n\treturn %s(%s);\n}\n", name, name, arguments
		table = table sprintf("\t{\"%s\", call_%s, %d, {%s}},\n", name, name, n, kinds)
	}
	printf "static const struct call calls[] = {\n%s};\n", table
}
