// tally: a table of keys, named by a keyed hash, with the admissions of the last window of each in
// a chain of marks. The first bits of the hash are a key's place in the index, and checks are
// counted in that order, a batch at a time.

#include "replay/tally.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "siphash.h"

#define NONE             UINT32_MAX
#define TEXT_MAX         512 // what is kept of a refused key
#define BATCH            ((size_t)1 << 16)
#define BATCH_TEXT_BYTES ((size_t)1 << 20)
#define BUCKET_BITS      12
#define INDEX_BITS_LEAST 12

typedef struct tally_key {
    uint64_t hash;
    int64_t oldest_us, newest_us; // of those marks
    uint32_t oldest, newest;      // marks; NONE when there is none
    uint32_t live;                // requests in those marks
    uint32_t limit;
    uint32_t peak;
    uint32_t refusal; // NONE until the first
} tally_key;

// Requests of one key that were admitted at one time, which the mark before tells, or the key: so
// a step along the chain touches only the mark that it leaves.
typedef struct mark {
    int64_t next_us;
    uint32_t count;
    uint32_t next;
} mark;

static size_t index_size(const tally *t)
{
    return (size_t)1 << t->index_bits;
}

bool tally_open(tally *t)
{
    *t = (tally){.index_bits = INDEX_BITS_LEAST, .mark_free = NONE};
    t->limits = calloc(TALLY_LIMITS_MAX, sizeof *t->limits);
    if (getrandom(t->seed, sizeof t->seed, 0) != sizeof t->seed || !t->limits ||
        !grow_to(&t->index, index_size(t) * sizeof(uint32_t)) ||
        !grow_to(&t->events, BATCH * sizeof(tally_event)) ||
        !grow_to(&t->ordered, BATCH * sizeof(tally_event))) {
        return false;
    }
    memset(t->index.data, 0xff, index_size(t) * sizeof(uint32_t));
    return true;
}

void tally_close(tally *t)
{
    free(t->limits);
    grow_free(&t->events);
    grow_free(&t->ordered);
    grow_free(&t->event_texts);
    grow_free(&t->keys);
    grow_free(&t->index);
    grow_free(&t->refusals);
    grow_free(&t->texts);
    grow_free(&t->marks);
    *t = (tally){0};
}

size_t tally_limit_index(tally *t, const weir_limit *limit, bool shadow)
{
    for (size_t i = 0; i < t->limit_count; i++) {
        if (t->limits[i].limit.id == limit->id) {
            return i;
        }
    }
    if (t->limit_count == TALLY_LIMITS_MAX) {
        return SIZE_MAX;
    }
    t->limits[t->limit_count] = (tally_limit){.limit = *limit, .shadow = shadow};
    return t->limit_count++;
}

static size_t place_of(const tally *t, uint64_t hash)
{
    return hash >> (64 - t->index_bits);
}

// Twice as many places, so that half of them stay free.
static bool widen_index(tally *t)
{
    if (!grow_to(&t->index, 2 * index_size(t) * sizeof(uint32_t))) {
        return false;
    }
    t->index_bits++;
    size_t mask = index_size(t) - 1;
    uint32_t *index = t->index.data;
    const tally_key *keys = t->keys.data;
    memset(index, 0xff, (mask + 1) * sizeof *index);
    for (size_t i = 0; i < t->key_count; i++) {
        size_t at = place_of(t, keys[i].hash);
        while (index[at] != NONE) {
            at = (at + 1) & mask;
        }
        index[at] = (uint32_t)i;
    }
    return true;
}

static tally_key *find_key(tally *t, size_t limit, uint64_t hash)
{
    uint32_t *index = t->index.data;
    tally_key *keys = t->keys.data;
    size_t mask = index_size(t) - 1, at = place_of(t, hash);
    for (; index[at] != NONE; at = (at + 1) & mask) {
        if (keys[index[at]].hash == hash) {
            return &keys[index[at]];
        }
    }

    if (t->key_count + 1 == NONE || !grow_to(&t->keys, (t->key_count + 1) * sizeof *keys)) {
        return NULL;
    }
    tally_key *fresh = (tally_key *)t->keys.data + t->key_count;
    *fresh = (tally_key){
        .hash = hash, .oldest = NONE, .newest = NONE, .limit = (uint32_t)limit, .refusal = NONE};
    index[at] = (uint32_t)t->key_count++;
    t->limits[limit].keys++;
    if (t->key_count * 2 > index_size(t) && !widen_index(t)) {
        return NULL;
    }
    return fresh;
}

static uint32_t take_mark(tally *t)
{
    mark *marks = t->marks.data;
    if (t->mark_free != NONE) {
        uint32_t taken = t->mark_free;
        t->mark_free = marks[taken].next;
        return taken;
    }
    if (t->mark_count + 1 == NONE ||
        !grow_to(&t->marks, ((size_t)t->mark_count + 1) * sizeof *marks)) {
        return NONE;
    }
    return t->mark_count++;
}

static void drop_oldest(tally *t, tally_key *key)
{
    mark *marks = t->marks.data;
    uint32_t dropped = key->oldest;
    key->live -= marks[dropped].count;
    key->oldest = marks[dropped].next;
    key->oldest_us = marks[dropped].next_us;
    if (key->oldest == NONE) {
        key->newest = NONE;
    }
    marks[dropped].next = t->mark_free;
    t->mark_free = dropped;
}

static bool add_mark(tally *t, tally_key *key, int64_t time_us)
{
    uint32_t taken = take_mark(t);
    if (taken == NONE) {
        return false;
    }
    mark *marks = t->marks.data;
    marks[taken] = (mark){0, 1, NONE};
    if (key->newest == NONE) {
        key->oldest = taken;
        key->oldest_us = time_us;
    } else {
        marks[key->newest].next = taken;
        marks[key->newest].next_us = time_us;
    }
    key->newest = taken;
    key->newest_us = time_us;
    return true;
}

// Counts an admission in the window (time - window, time].
static bool admit(tally *t, tally_key *key, tally_limit *limit, int64_t time_us)
{
    int64_t window_us = limit->limit.window_us;
    if (key->newest != NONE && time_us < key->newest_us) {
        if (key->newest_us - time_us <= window_us) {
            time_us = key->newest_us;
        } else {
            while (key->oldest != NONE) {
                drop_oldest(t, key);
            }
        }
    }
    while (key->oldest != NONE && key->oldest_us <= time_us - window_us) {
        drop_oldest(t, key);
    }

    if (key->newest != NONE && key->newest_us == time_us) {
        ((mark *)t->marks.data)[key->newest].count++;
    } else if (!add_mark(t, key, time_us)) {
        return false;
    }
    key->live++;
    if (key->live > key->peak) {
        key->peak = key->live;
    }
    if (key->live > limit->peak) {
        limit->peak = key->live;
    }
    return true;
}

static bool refuse(tally *t, tally_key *key, tally_limit *limit, const void *text, uint32_t size,
                   int64_t time_us)
{
    limit->refused++;
    if (key->refusal == NONE) {
        size_t kept = size < TEXT_MAX ? size : TEXT_MAX;
        if (t->refusal_count + 1 == NONE ||
            !grow_to(&t->refusals, (t->refusal_count + 1) * sizeof(tally_refusal)) ||
            !grow_to(&t->texts, t->text_used + kept)) {
            return false;
        }
        memcpy((char *)t->texts.data + t->text_used, text, kept);
        ((tally_refusal *)t->refusals.data)[t->refusal_count] = (tally_refusal){
            0, time_us, t->text_used, size, (uint32_t)(key - (tally_key *)t->keys.data)};
        t->text_used += kept;
        key->refusal = (uint32_t)t->refusal_count++;
        limit->keys_refused++;
    }
    ((tally_refusal *)t->refusals.data)[key->refusal].refused++;
    return true;
}

static bool count_event(tally *t, const tally_event *event)
{
    tally_limit *limit = &t->limits[event->limit];
    tally_key *key = find_key(t, event->limit, event->hash);
    if (!key) {
        return false;
    }
    limit->asked++;
    if (!event->passed) {
        return refuse(t, key, limit, (const char *)t->event_texts.data + event->text_at,
                      event->text_size, event->time_us);
    }
    return !event->admitted || admit(t, key, limit, event->time_us);
}

// Orders the batch by the first bits of the hash, those of one key as they came.
static void order_events(tally *t)
{
    const tally_event *events = t->events.data;
    tally_event *ordered = t->ordered.data;
    uint32_t starts[(1 << BUCKET_BITS) + 1] = {0};
    for (size_t i = 0; i < t->event_count; i++) {
        starts[(events[i].hash >> (64 - BUCKET_BITS)) + 1]++;
    }
    for (size_t i = 0; i < (1 << BUCKET_BITS); i++) {
        starts[i + 1] += starts[i];
    }
    for (size_t i = 0; i < t->event_count; i++) {
        ordered[starts[events[i].hash >> (64 - BUCKET_BITS)]++] = events[i];
    }
}

bool tally_settle(tally *t)
{
    order_events(t);
    const tally_event *ordered = t->ordered.data;
    for (size_t i = 0; i < t->event_count; i++) {
        if (!count_event(t, &ordered[i])) {
            return false;
        }
    }
    t->event_count = t->event_text_used = 0;
    return true;
}

bool tally_count(tally *t, size_t limit, const void *key, size_t key_size, int64_t time_us,
                 bool passed, bool admitted)
{
    sip_state state = sip_begin(t->seed);
    sip_word(&state, limit);
    size_t kept = passed ? 0 : key_size < TEXT_MAX ? key_size : TEXT_MAX;
    if (!grow_to(&t->event_texts, t->event_text_used + kept)) {
        return false;
    }
    if (kept > 0) {
        memcpy((char *)t->event_texts.data + t->event_text_used, key, kept);
    }

    tally_event *event = (tally_event *)t->events.data + t->event_count++;
    event->hash = sip_finish(state, key, key_size, sizeof(uint64_t));
    event->time_us = time_us;
    event->text_at = (uint32_t)t->event_text_used;
    event->text_size = (uint32_t)(key_size < NONE ? key_size : NONE);
    event->limit = (uint16_t)limit;
    event->passed = passed;
    event->admitted = admitted;
    t->event_text_used += kept;
    bool full = t->event_count == BATCH || t->event_text_used > BATCH_TEXT_BYTES;
    return !full || tally_settle(t);
}

// The order of the report; the last two steps make it the same in every run.
static bool refused_more(const tally *t, const tally_refusal *a, const tally_refusal *b)
{
    const tally_key *keys = t->keys.data;
    const char *texts = t->texts.data;
    if (a->refused != b->refused) {
        return a->refused > b->refused;
    }
    if (a->first_us != b->first_us) {
        return a->first_us < b->first_us;
    }
    if (keys[a->key].limit != keys[b->key].limit) {
        return keys[a->key].limit < keys[b->key].limit;
    }
    uint32_t both = a->text_size < b->text_size ? a->text_size : b->text_size;
    int differ = memcmp(texts + a->text_at, texts + b->text_at, both < TEXT_MAX ? both : TEXT_MAX);
    return differ != 0 ? differ < 0 : a->text_size < b->text_size;
}

size_t tally_most_refused(const tally *t, tally_top *out, size_t count)
{
    const tally_refusal *refusals = t->refusals.data;
    const tally_refusal **best = calloc(count + 1, sizeof *best);
    size_t found = 0;
    for (size_t i = 0; best && i < t->refusal_count; i++) {
        if (found == count && (count == 0 || !refused_more(t, &refusals[i], best[found - 1]))) {
            continue;
        }
        size_t at = found < count ? found++ : found - 1;
        for (; at > 0 && refused_more(t, &refusals[i], best[at - 1]); at--) {
            best[at] = best[at - 1];
        }
        best[at] = &refusals[i];
    }
    const tally_key *keys = t->keys.data;
    for (size_t i = 0; i < found; i++) {
        const tally_key *key = &keys[best[i]->key];
        bool cut = best[i]->text_size > TEXT_MAX;
        out[i] = (tally_top){key->limit,
                             best[i]->refused,
                             best[i]->first_us,
                             key->peak,
                             (const char *)t->texts.data + best[i]->text_at,
                             cut ? TEXT_MAX : best[i]->text_size,
                             cut};
    }
    free(best);
    return found;
}
