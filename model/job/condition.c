/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "model/job/condition.h"

#define EXACT 9007199254740992.0 /* beyond, a double does not hold every integer */

static bool is_integer(double value)
{
	return isfinite(value) && floor(value) == value && fabs(value) < EXACT;
}

/* The term's value, from that of its name. False: not known. */
static bool term_value(const struct condition_term *term, double value, double *ret)
{
	if (!term->is_known)
		return false;
	if (term->is_constant)
		value = term->number;
	if (term->is_absolute)
		value = fabs(value);
	if (term->mask) {
		if (!is_integer(value))
			return false;
		value = (double)((uint64_t)(int64_t)value & term->mask);
	}
	if (term->add && !is_integer(value))
		return false;
	*ret = value + (double)term->add;
	return true;
}

/* Of equal bits either number may have its sign, or neither. */
static bool goes_by_bits(const struct condition *condition)
{
	return condition->is_unsigned ||
	       (!condition->is_float && (condition->relation == CONDITION_EQUAL ||
					 condition->relation == CONDITION_UNEQUAL));
}

static bool cut_unsigned(const struct condition *condition, double *value)
{
	double end = ldexp(1, 8 * (condition->size < 8 ? condition->size : 8));

	if (!is_integer(*value))
		return false;
	if (*value < 0)
		*value += end;
	else if (*value >= end)
		*value -= end;
	return true;
}

int condition_holds(const struct condition *condition, double left, double right)
{
	if (!term_value(&condition->left, left, &left) ||
	    !term_value(&condition->right, right, &right))
		return -1;
	if (condition->relation == CONDITION_UNORDERED)
		return isnan(left) || isnan(right);
	if (condition->relation == CONDITION_ORDERED)
		return !isnan(left) && !isnan(right);
	if (isnan(left) || isnan(right))
		return condition->is_true_for_nan;
	if (goes_by_bits(condition) &&
	    (!cut_unsigned(condition, &left) || !cut_unsigned(condition, &right)))
		return -1;
	switch (condition->relation) {
	case CONDITION_EQUAL:
		return left == right;
	case CONDITION_UNEQUAL:
		return left != right;
	case CONDITION_LESS:
		return left < right;
	case CONDITION_LESS_EQUAL:
		return left <= right;
	case CONDITION_GREATER:
		return left > right;
	case CONDITION_GREATER_EQUAL:
		return left >= right;
	default:
		return -1;
	}
}

int64_t condition_index(const struct condition *condition, double left)
{
	if (condition->relation != CONDITION_TABLE || !term_value(&condition->left, left, &left) ||
	    !is_integer(left) || left < 0)
		return -1;
	return (int64_t)left;
}
