# SPDX-License-Identifier: BSD-3-Clause
# What the prototypes of mpi.h say of a function's parameters. Given to gawk before the file that asks.

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Split the prototype's parameters: names[], types[] ("MPI_Comm", "void *"), and text_number[] of
# those that are text: these have hidden lengths in Fortran. Returns their number.
function parameters(list, names, types,	parts, n, i, p, is_array)
{
	num_texts = 0
	delete text_number
	list = trim(list)
	if (list == "" || list == "void")
		return 0
	n = split(list, parts, ",")
	for (i = 1; i <= n; i++) {
		p = trim(parts[i])
		if (p ~ /(^|[ \t])char[ \t*]/)
			text_number[i] = ++num_texts
		is_array = gsub(/(\[[^]]*\])+$/, "", p)
		match(p, /[A-Za-z_][A-Za-z_0-9]*$/)
		names[i] = substr(p, RSTART)
		p = substr(p, 1, RSTART - 1)
		gsub(/(^|[ \t])const[ \t]/, "", p)
		types[i] = trim(p) (is_array ? " *" : "")
	}
	return n
}
