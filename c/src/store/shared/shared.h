// The shared store: the memory store in a mapping of several processes.

#ifndef WEIR_SRC_SHARED_H
#define WEIR_SRC_SHARED_H

#include "store/memory/memory.h"

extern const weir_store_kind weir_shared_kind;

#endif
