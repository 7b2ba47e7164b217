// The memory store: a table of cells, side memory for what is larger, and the way from one to a
// state and back.

#ifndef WEIR_SRC_MEMORY_H
#define WEIR_SRC_MEMORY_H

#include "algorithm/leaky_bucket.h"
#include "algorithm/token_bucket.h"
#include "siphash.h"
#include "store/memory/side.h"
#include "store/memory/table.h"
#include "store/store.h"
#include "weir/memory.h"

typedef struct memory_store {
    weir_store store;
    weir_table table;
    uint64_t seed[2];
    const weir_clock *clock;
    size_t size_bytes;         // of the whole mapping
    pthread_mutex_t side_lock; // taken inside a group's lock, never the other way round
    weir_side side;
    uint32_t sweep; // the group where the next search for side memory begins
} memory_store;

// One key during a call: where it is, and its state outside the cell. Its group is locked.
typedef struct weir_entry {
    const weir_limit *limit;
    weir_place place;
    weir_state state;
    weir_side_block block; // what state.side points to, 0 when there is none
    bool present;          // there is a cell
} weir_entry;

int64_t weir_memory_clock(const memory_store *m);

static inline int64_t weir_memory_now(const memory_store *m, int64_t now_us)
{
    return now_us != 0 ? now_us : weir_memory_clock(m);
}

// The keyed name of limit and key. SipHash's padding tells keys of different lengths apart.
static inline __attribute__((always_inline)) uint64_t weir_memory_tag(const memory_store *m,
                                                                      const weir_check *check)
{
    sip_state s = sip_begin(m->seed);
    sip_word(&s, check->limit->id);
    const uint64_t tag = sip_finish(s, check->key, check->key_size, sizeof check->limit->id);
    return tag != 0 ? tag : 1;
}

// What a step is given as cost: the cost, or for concurrency the keyed hash of the id. Without an
// id, which only peek has, it is one that nobody holds.
static inline int64_t weir_memory_cost(const memory_store *m, const weir_check *check)
{
    if (check->limit->algorithm != WEIR_CONCURRENCY) {
        return check->cost;
    }
    if (check->id == NULL || check->id_size == 0) {
        return 0;
    }
    const uint64_t id = sip_finish(sip_begin(m->seed), check->id, check->id_size, 0);
    return (int64_t)(id != 0 ? id : 1);
}

static inline void weir_group_lock(weir_group *group)
{
    pthread_mutex_lock(&group->lock);
}

static inline void weir_group_unlock(weir_group *group)
{
    pthread_mutex_unlock(&group->lock);
}

static inline weir_effect weir_memory_step(const weir_limit *limit, weir_state *state,
                                           int64_t now_us, weir_verb verb, int64_t cost,
                                           weir_decision *out)
{
    switch (limit->algorithm) {
    case WEIR_TOKEN_BUCKET:
        return weir_token_bucket(state, limit, now_us, verb, cost, out);
    case WEIR_LEAKY_BUCKET:
        return weir_leaky_bucket(state, limit, now_us, verb, cost, out);
    case WEIR_FIXED_WINDOW:
        return weir_fixed_window(state, limit, now_us, verb, cost, out);
    case WEIR_SLIDING_LOG:
        return weir_sliding_log(state, limit, now_us, verb, cost, out);
    case WEIR_SLIDING_COUNTER:
        return weir_sliding_counter(state, limit, now_us, verb, cost, out);
    case WEIR_MIN_GAP:
        return weir_min_gap(state, limit, now_us, verb, cost, out);
    case WEIR_CONCURRENCY:
        return weir_concurrency(state, limit, now_us, verb, cost, out);
    }
    __builtin_unreachable();
}

// A weir_table_forget: frees the side memory of a cell.
void weir_memory_forget(void *context, const weir_cell *cell);

// Reads the key's state out of its cell; a fresh one when there is none.
void weir_entry_load(const memory_store *m, weir_entry *entry);

// Whether the state must move before anything is recorded: of a counter that has more slots now
// than when it was written.
static inline bool weir_entry_misfits(const weir_entry *entry)
{
    return entry->present && entry->limit->slots > 1 &&
           entry->state.side_bytes < weir_sliding_counter_room(entry->limit);
}

// Makes sure that one more record has its place: a cell, and side memory where the limit needs it.
// What is recorded stays as it was. WEIR_FULL when there is none; then nothing has changed but what
// was evicted.
weir_status weir_entry_reserve(memory_store *m, weir_entry *entry, int64_t now_us,
                               const uint64_t *pinned, size_t pinned_count, weir_error *error);

// Writes the state back after a step. The entry must be reserved, unless it was present and the
// step needs no more room.
void weir_entry_save(memory_store *m, weir_entry *entry, weir_effect effect,
                     const weir_decision *row);

// Forgets the key, which must be present.
void weir_entry_forget(memory_store *m, weir_entry *entry);

// joint.c
weir_status weir_memory_take_all(weir_store *store, const weir_check *checks, size_t count,
                                 int64_t now_us, weir_decision *out, weir_decision *rows,
                                 weir_error *error);

#endif
