// sort.h: records by time, those of one time in the order in which they stood.

#ifndef WEIR_TOOL_SORT_H
#define WEIR_TOOL_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "log/input.h"

// Logs are nearly sorted, and that makes it nearly free. False: no memory.
bool sort_records(record *records, size_t count);

#endif
