# SPDX-License-Identifier: BSD-3-Clause
# Instructions for each of `calls` calls that a file of callgrind's has of the object whose name contains `object`:
# "NAME FRAMES INSTRUCTIONS". By the object that an instruction is in: functions of several have the same names, and
# callgrind_annotate adds up those that have no line.

# "ob=(3) /usr/lib/libx.so", and from then on "ob=(3)".
match($0, /^c?ob=\(([0-9]+)\) ?(.*)/, part) {
	if (part[2] != "")
		objects[part[1]] = part[2]
	if (/^ob=/)
		is_wanted = index(objects[part[1]], object) > 0
}

# What a call costs stands in the next line, and again where it is spent.
/^calls=/ { getline; next }

is_wanted && /^[-+*0-9]/ { sum += $2 }

END { printf "%s %d %.0f\n", name, frames, sum / calls }
