/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/interrupt.h"

volatile sig_atomic_t interrupt_wanted, interrupt_end;
