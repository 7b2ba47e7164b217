// decision.h: decisions as every command shows them.

#ifndef WEIR_TOOL_DECISION_H
#define WEIR_TOOL_DECISION_H

#include <jansson.h>

#include <weir/check.h>
#include <weir/decision.h>

#include "table.h"

// Its numbers.
json_t *decision_json(const weir_decision *d);

// Its numbers with the check's limit, key and cost.
json_t *decision_row_json(const weir_check *check, const weir_decision *row);

// A table of checks and their decisions: one head, then rows.
void decision_table_open(table *t);
void decision_table_row(table *t, const weir_check *check, bool shadow, const weir_decision *row);

// "allowed", "refused by login; try again in 12s": what is decided, by the limit of that name.
void decision_print(const char *name, const weir_decision *d);

#endif
