// Several checks at once, all or none.
//
// The groups of all keys are locked in the order of their addresses, so two calls never wait for
// each other. Then every limit is asked, and only when the answer is known and the room for it
// reserved is anything recorded: no failure comes after that.

#include "store/memory/memory.h"

#include "error.h"

typedef struct joint {
    weir_call call;
    const weir_check *checks;
    size_t count;
    int64_t now_us;
    weir_entry entries[WEIR_CHECKS_MAX];
    int64_t costs[WEIR_CHECKS_MAX];
    uint64_t tags[WEIR_CHECKS_MAX];
    weir_group *locks[WEIR_CHECKS_MAX];
    size_t lock_count;
} joint;

static weir_status name_all(joint *j, weir_error *error)
{
    for (size_t i = 0; i < j->count; i++) {
        const weir_check *check = &j->checks[i];
        j->tags[i] = weir_memory_tag(j->call.m, check);
        for (size_t k = 0; k < i; k++) {
            if (j->tags[k] == j->tags[i]) {
                return weir_fail(
                    error, WEIR_INVALID,
                    "limit \"%s\" and the same key stand twice in the list, at %zu and "
                    "%zu; give one check with the whole cost",
                    check->limit->name, k, i);
            }
        }
        j->costs[i] = weir_memory_cost(j->call.m, check);
        j->entries[i].limit = check->limit;
        j->entries[i].place = weir_table_place(&j->call.m->table, j->tags[i]);
        weir_table_prefetch(&j->entries[i].place);
    }
    return WEIR_OK;
}

static void lock_all(joint *j)
{
    j->lock_count = 0;
    for (size_t i = 0; i < j->count; i++) { // sorted insertion, each group once
        weir_group *group = j->entries[i].place.group;
        size_t at = j->lock_count;
        while (at > 0 && j->locks[at - 1] > group) {
            at--;
        }
        if (at > 0 && j->locks[at - 1] == group) {
            continue;
        }
        for (size_t k = j->lock_count; k > at; k--) {
            j->locks[k] = j->locks[k - 1];
        }
        j->locks[at] = group;
        j->lock_count++;
    }
    for (size_t i = 0; i < j->lock_count; i++) {
        weir_call_lock(&j->call, j->locks[i]);
    }
}

static void unlock_all(joint *j)
{
    for (size_t i = j->lock_count; i > 0; i--) {
        weir_call_unlock(&j->call, j->locks[i - 1]);
    }
}

static weir_effect step(joint *j, size_t i, weir_verb verb, weir_decision *row)
{
    const weir_limit *limit = j->entries[i].limit;
    row->status = WEIR_OK;
    row->source = WEIR_SOURCE_STORE;
    row->binding = 0;
    if (limit->most == 0) {
        weir_decision_of_nothing(row, verb, &j->checks[i]);
        return WEIR_UNCHANGED;
    }
    return weir_memory_step(limit, &j->entries[i].state, j->now_us, verb, j->costs[i], row);
}

// Whether the step may record more than is there, or in another form than it stands in the cell.
static bool needs_room(const joint *j, size_t i, bool allowed)
{
    const weir_entry *entry = &j->entries[i];
    const weir_limit *limit = entry->limit;
    if (limit->most == 0) {
        return false;
    }
    if (limit->algorithm == WEIR_CONCURRENCY) {
        return allowed;
    }
    if (weir_entry_misfits(entry)) {
        return true;
    }
    const bool records =
        allowed ||
        (limit->count_denied && (limit->algorithm == WEIR_MIN_GAP || j->costs[i] <= limit->most));
    return records && j->costs[i] > 0;
}

// Room for everything that is going to be recorded, or for nothing.
static weir_status reserve_all(joint *j, bool allowed, weir_error *error)
{
    for (size_t i = 0; i < j->count; i++) {
        if (!needs_room(j, i, allowed)) {
            continue;
        }
        const weir_status status =
            weir_entry_reserve(&j->call, &j->entries[i], j->now_us, j->tags, j->count, error);
        if (status == WEIR_OK) {
            continue;
        }
        for (size_t k = 0; k < i; k++) { // cells that were made for this call alone
            if (!j->entries[k].present && weir_table_find(&j->entries[k].place) != NULL) {
                weir_entry_forget(&j->call, &j->entries[k]);
                weir_call_commit(&j->call);
            }
        }
        return status;
    }
    return WEIR_OK;
}

static weir_status decide(joint *j, weir_decision *rows, weir_error *error)
{
    bool allowed = true;
    for (size_t i = 0; i < j->count; i++) {
        const weir_status status = weir_entry_load(&j->call, &j->entries[i], error);
        if (status != WEIR_OK) {
            return status;
        }
        step(j, i, WEIR_VERB_PEEK, &rows[i]);
        allowed &= rows[i].allowed;
    }
    weir_status status = reserve_all(j, allowed, error);
    for (size_t i = 0; i < j->count && status == WEIR_OK; i++) {
        status = weir_entry_prepare(&j->call, &j->entries[i], j->now_us, allowed, j->count, error);
    }
    if (status != WEIR_OK) {
        return status;
    }
    // A list of one that is refused is an ordinary take; only another limit's refusal makes it a
    // DENY.
    const weir_verb verb = allowed || j->count == 1 ? WEIR_VERB_TAKE : WEIR_VERB_DENY;
    for (size_t i = 0; i < j->count; i++) {
        const weir_effect effect = step(j, i, verb, &rows[i]);
        weir_entry_save(&j->call, &j->entries[i], effect, &rows[i]);
        weir_group *group = j->entries[i].place.group;
        group->allowed += allowed;
        group->refused += !rows[i].allowed;
    }
    weir_call_commit(&j->call);
    return WEIR_OK;
}

weir_status weir_memory_take_all(weir_store *store, const weir_check *checks, size_t count,
                                 int64_t now_us, weir_decision *out, weir_decision *rows,
                                 weir_error *error)
{
    joint j;
    weir_call_begin(&j.call, (memory_store *)store);
    j.checks = checks;
    j.count = count;
    weir_status status = name_all(&j, error);
    if (status != WEIR_OK) {
        weir_call_end(&j.call);
        return status;
    }
    weir_decision own[WEIR_CHECKS_MAX];
    rows = rows != NULL ? rows : own;
    j.now_us = weir_memory_now(j.call.m, now_us);
    lock_all(&j);
    status = decide(&j, rows, error);
    unlock_all(&j);
    weir_call_end(&j.call);
    if (status == WEIR_OK) {
        weir_decision_join(out, rows, count);
    }
    return status;
}
