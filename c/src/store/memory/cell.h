// A cell: the state of one key in 24 bytes beside its 8-byte name, and what an eviction must know
// of it.

#ifndef WEIR_SRC_CELL_H
#define WEIR_SRC_CELL_H

#include <stdint.h>

#include "algorithm/algorithm.h"

// Counts, fractions and denominators fit in 51 bits (they stop at 2^50), so 26 bits are free for
// what tells cells apart.
typedef struct weir_cell {
    int64_t instant_us;
    uint64_t first : 51;
    uint64_t kind : 3;  // weir_algorithm, or WEIR_KIND_SLOTS
    uint64_t used : 10; // share of the limit that is used, in 1/1023; of buckets the time tells it
    uint64_t second : 51; // or, when the kind has side memory, where that is
    uint64_t span : 13;   // how long after instant_us the state still matters: 6 bits exponent, 7
                          // bits mantissa
} weir_cell;

#define WEIR_KIND_SLOTS 0
#define WEIR_USED_MAX   1023

static inline unsigned weir_kind_of(const weir_limit *limit)
{
    return limit->algorithm == WEIR_SLIDING_COUNTER && limit->slots > 1
               ? WEIR_KIND_SLOTS
               : (unsigned)limit->algorithm;
}

static inline bool weir_kind_has_side(unsigned kind)
{
    return kind == WEIR_KIND_SLOTS || kind == WEIR_SLIDING_LOG || kind == WEIR_CONCURRENCY;
}

static inline bool weir_kind_is_bucket(unsigned kind)
{
    return kind == WEIR_TOKEN_BUCKET || kind == WEIR_LEAKY_BUCKET;
}

// The share of its limit that a decision leaves used.
static inline unsigned weir_used_of(const weir_limit *limit, const weir_decision *row)
{
    if (weir_kind_is_bucket(limit->algorithm)) {
        return 0;
    }
    return (unsigned)((double)(row->limit - row->remaining) * limit->share * WEIR_USED_MAX);
}

static inline weir_cell weir_cell_pack(const weir_limit *limit, const weir_state *state,
                                       uint64_t second, unsigned used)
{
    return (weir_cell){
        .instant_us = state->instant_us,
        .first = (uint64_t)state->first,
        .kind = weir_kind_of(limit),
        .used = used,
        .second = second,
        .span = limit->span_packed,
    };
}

// Rounded up, by less than one part in a hundred.
static inline unsigned weir_span_pack(int64_t span_us)
{
    if (span_us < 256) {
        return (unsigned)span_us;
    }
    const int shift = 63 - __builtin_clzll((uint64_t)span_us) - 7;
    const uint64_t mantissa =
        ((uint64_t)span_us + (UINT64_C(1) << shift) - 1) >> shift; // 128 to 256
    return (unsigned)shift * 128 + (unsigned)mantissa;
}

static inline int64_t weir_span_unpack(unsigned packed)
{
    if (packed < 256) {
        return packed;
    }
    const unsigned shift = packed / 128 - 1;
    return (int64_t)(packed - shift * 128) << shift;
}

// The instant from which the state is as if it had never been.
static inline int64_t weir_cell_expires_us(const weir_cell *cell)
{
    if (weir_kind_is_bucket(cell->kind)) {
        return cell->instant_us + 1;
    }
    return cell->instant_us + weir_span_unpack(cell->span);
}

// The share of its limit that the key has used at now, in 1/1023.
static inline unsigned weir_cell_used(const weir_cell *cell, int64_t now_us)
{
    if (!weir_kind_is_bucket(cell->kind)) {
        return cell->used;
    }
    const int64_t owed = cell->instant_us - now_us, span = weir_span_unpack(cell->span);
    if (owed <= 0) {
        return 0;
    }
    return owed >= span ? WEIR_USED_MAX : (unsigned)((double)owed / (double)span * WEIR_USED_MAX);
}

#endif
