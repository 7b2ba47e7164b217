// The memory stores: a table of cells, side memory for what is larger, and the way from one to a
// state and back. One process has it alone, or several share the mapping.

#ifndef WEIR_SRC_MEMORY_H
#define WEIR_SRC_MEMORY_H

#include <errno.h>

#include "algorithm/leaky_bucket.h"
#include "algorithm/token_bucket.h"
#include "siphash.h"
#include "store/memory/side.h"
#include "store/memory/table.h"
#include "store/store.h"
#include "weir/memory.h"

// What of a store lies in its mapping, before journals, groups, sets and side memory.
typedef struct weir_memory_head {
    uint64_t form;             // of a shared mapping: what wrote it. Written last, 0 until then
    uint64_t size_bytes;       // of the whole mapping
    uint64_t side_bytes;       // of which for side memory
    uint64_t seed[2];          // of the hash that names keys
    pthread_mutex_t side_lock; // taken inside a group's lock, never the other way round
    uint64_t side_call;        // the journal that the holder of that lock writes; 0 for none
    uint64_t side_changes;     // blocks allotted and freed since the mapping was made
    uint32_t side_free[WEIR_SIDE_ORDERS];
    pthread_mutex_t recovery_lock; // taken inside all others
    uint64_t deaths;               // holders of a lock that died
    uint32_t sweep;                // the group where the next search for side memory begins
    uint32_t journal_count;        // 0 in a store of one process
} weir_memory_head;

// Where the parts of a mapping are. The sizes alone decide it.
typedef struct weir_memory_layout {
    size_t journals_at, groups_at, sets_at, side_at;
    uint32_t journal_count, group_count;
} weir_memory_layout;

// A store as one process sees it.
typedef struct memory_store {
    weir_store store;
    weir_table table;
    uint64_t seed[2];
    const weir_clock *clock;
    weir_side side;
    weir_memory_head *head;
    size_t size_bytes;      // of the mapping, from the head on
    weir_journal *journals; // NULL in a store of one process
    uint32_t journal_count;
    uint32_t next_journal; // which is tried first
} memory_store;

// One call on a store: the journal that it writes, and whether it holds the lock of side memory.
// What it locks it keeps until what it noted is done.
typedef struct weir_call {
    memory_store *m;
    weir_journal *journal; // NULL in a store of one process
    uint64_t token;        // names journal and call
    bool holds_side;
} weir_call;

// One key during a call: where it is, and its state outside the cell. Its group is locked.
typedef struct weir_entry {
    const weir_limit *limit;
    weir_place place;
    weir_state state;
    weir_side_block block; // of the key, 0 when there is none
    weir_side_block copy;  // what state.side points to instead, 0 when there is none
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

// recover.c: after the death of who held a lock, which the caller holds now.
void weir_recover_group(memory_store *m, weir_group *group);
void weir_recover_side(memory_store *m);
void weir_recover_journal(memory_store *m, weir_journal *journal);

static inline void weir_group_lock(memory_store *m, weir_group *group)
{
    if (__builtin_expect(pthread_mutex_lock(&group->lock) == EOWNERDEAD, 0)) {
        weir_recover_group(m, group);
    }
}

static inline void weir_group_unlock(weir_group *group)
{
    pthread_mutex_unlock(&group->lock);
}

// call.c
void weir_call_begin(weir_call *call, memory_store *m);
void weir_call_end(weir_call *call);

// The lock of a group; the second only if it can be had at once.
void weir_call_lock(weir_call *call, weir_group *group);
bool weir_call_try_lock(weir_call *call, weir_group *group);
void weir_call_unlock(weir_call *call, weir_group *group);

// Blocks of side memory, with its lock, which is kept until the commit.
weir_side_block weir_call_alloc(weir_call *call, size_t bytes);
void weir_call_free(weir_call *call, weir_side_block block);

// What was done since the last commit is done, whoever dies.
void weir_call_commit(weir_call *call);

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

// A weir_table_forget: frees the side memory of a cell. The context is the call.
void weir_memory_forget(void *call, const weir_cell *cell);

// The parts of a mapping of so many bytes.
weir_memory_layout weir_memory_layout_of(size_t size_bytes, size_t side_bytes, bool shared);

// Checks the sizes that options give, of which the first is one that a store may have.
weir_status weir_memory_check_sizes(size_t size_bytes, size_t side_bytes, bool no_side, bool shared,
                                    weir_error *error);

// Fills the handle of a mapping that begins at `head`; with `fresh` lays out a mapping that is all
// nought.
void weir_memory_attach(memory_store *m, const weir_store_kind *kind, weir_memory_head *head,
                        const weir_memory_layout *layout, bool fresh);

// The verbs of both kinds of store.
weir_status weir_memory_take(weir_store *store, const weir_check *check, int64_t now_us,
                             weir_decision *out, weir_error *error);
weir_status weir_memory_take_many(weir_store *store, const weir_check *checks, size_t count,
                                  int64_t now_us, weir_decision *rows, weir_error *error);
weir_status weir_memory_verb(weir_store *store, weir_verb verb, const weir_check *check,
                             int64_t now_us, weir_decision *out, weir_error *error);
weir_status weir_memory_reset(weir_store *store, const weir_check *check, weir_error *error);
int64_t weir_memory_now_us(weir_store *store);

// Reads the key's state out of its cell; a fresh one when there is none.
void weir_entry_load(const weir_call *call, weir_entry *entry);

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
weir_status weir_entry_reserve(weir_call *call, weir_entry *entry, int64_t now_us,
                               const uint64_t *pinned, size_t pinned_count, weir_error *error);

// Before a step that may write more of a shared mapping than a journal holds, with `count` such
// entries in the call: a copy of the side memory for it to write in. WEIR_FULL when there is none.
weir_status weir_entry_prepare(weir_call *call, weir_entry *entry, int64_t now_us, bool succeeds,
                               size_t count, weir_error *error);

// Writes the state back after a step. The entry must be reserved, unless it was present and the
// step needs no more room.
void weir_entry_save(weir_call *call, weir_entry *entry, weir_effect effect,
                     const weir_decision *row);

// Forgets the key, which must be present.
void weir_entry_forget(weir_call *call, weir_entry *entry);

// joint.c
weir_status weir_memory_take_all(weir_store *store, const weir_check *checks, size_t count,
                                 int64_t now_us, weir_decision *out, weir_decision *rows,
                                 weir_error *error);

#endif
