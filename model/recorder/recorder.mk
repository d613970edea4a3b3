# SPDX-License-Identifier: BSD-3-Clause
# The recorder libraries. Included by ../../Makefile.
