// tally.h: what became of each limit and key in a replay.

#ifndef WEIR_TOOL_TALLY_H
#define WEIR_TOOL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/limit.h>

#include "grow.h"

#define TALLY_LIMITS_MAX 256

typedef struct tally_limit {
    weir_limit limit;
    bool shadow;
    uint64_t asked;        // checks
    uint64_t refused;      // checks that this limit refused by itself
    uint64_t keys;         // different keys
    uint64_t keys_refused; // of which were refused at least once
    uint32_t peak;         // the most requests of one key admitted inside one window
} tally_limit;

// A key that was refused, as a report shows it.
typedef struct tally_refusal {
    uint64_t refused;
    int64_t first_us; // the time of the first refusal
    uint64_t text_at; // where the key's bytes are
    uint32_t text_size;
    uint32_t key;
} tally_refusal;

// A check that is not in the table yet. The table is far larger than a cache, and so checks are
// gathered and counted key by key, which fetches each key once for many checks.
typedef struct tally_event {
    uint64_t hash;
    int64_t time_us;
    uint32_t text_at; // of a refused key, in the texts of the batch
    uint32_t text_size;
    uint16_t limit;
    bool passed, admitted;
} tally_event;

typedef struct tally {
    uint64_t seed[2];
    tally_limit *limits;
    size_t limit_count;

    grow events, ordered; // a batch as it came, and key by key
    grow event_texts;
    size_t event_count, event_text_used;

    grow keys, index, refusals, texts, marks;
    size_t key_count, refusal_count, text_used;
    int index_bits; // the index has 2^index_bits places
    uint32_t mark_count, mark_free;
} tally;

// False: no memory, here and below. Close it in any case.
bool tally_open(tally *t);
void tally_close(tally *t);

// The index of a limit, which is added when it is not known yet; SIZE_MAX: there are too many.
size_t tally_limit_index(tally *t, const weir_limit *limit, bool shadow);

// Counts one check of a limit: `passed` is the limit's own verdict, `admitted` whether the request
// passed as a whole. Times should not run backwards; one that does is counted at the newest of its
// key, or starts over when it is more than a window behind, as limits judge it.
bool tally_count(tally *t, size_t limit, const void *key, size_t key_size, int64_t time_us,
                 bool passed, bool admitted);

// One line of the list of keys refused most.
typedef struct tally_top {
    size_t limit;
    uint64_t refused;
    int64_t first_us;
    uint32_t peak; // the most requests of this key admitted inside one window
    const void *key;
    size_t key_size;
    bool cut; // the key was longer than what is kept of it
} tally_top;

// Counts the checks that are still gathered. Call it before reading anything out of the tally.
bool tally_settle(tally *t);

// Writes the keys refused most, at most `count`, the most refused first; of equals, the one refused
// first. Returns how many. Good until the tally changes.
size_t tally_most_refused(const tally *t, tally_top *out, size_t count);

#endif
