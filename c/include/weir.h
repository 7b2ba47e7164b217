// weir: who may pass now. The whole C interface; each header says one part of it.
//
//   request -> policy -> checks -> store -> decision -> headers
//
// A limit is an algorithm with its parameters and a name (limit.h). A check is a limit, a key and a
// cost (check.h). A store keeps what was recorded for each limit and key and answers a check with a
// decision (store.h): kept in this process (memory.h), in memory that processes share (shared.h),
// or in a Redis server (redis.h, in weir::redis). A policy is a Lua script that turns a request
// into checks (policy.h, in weir::policy).
//
// What holds everywhere, and is not said again:
//  - Every time and duration is a whole number of microseconds, and its name ends in _us. Bare
//  numbers are counts.
//  - Functions return a weir_status (status.h): WEIR_OK or a negative code. A refusal is an answer,
//  not an error: WEIR_OK
//    with decision.allowed false. On an error nothing was recorded and no output is to be read.
//  - A weir_error is the caller's and may be NULL; it is filled when a function fails in a way that
//  a person must mend.
//  - What weir_x_open gives, weir_x_close takes back; close takes NULL. Structs are the caller's.
//  Pointers are
//    borrowed for the call, unless it says that they are kept.
//  - Options may be NULL: all defaults. A zero field is its default. Reserved fields must be zero.
//  - A handle may be shared by threads unless it says otherwise. Nothing is printed, nothing exits,
//  nothing is global.

#ifndef WEIR_H
#define WEIR_H

#include "weir/check.h"
#include "weir/decision.h"
#include "weir/duration.h"
#include "weir/headers.h"
#include "weir/key.h"
#include "weir/limit.h"
#include "weir/memory.h"
#include "weir/shared.h"
#include "weir/status.h"
#include "weir/store.h"

#endif
