// What is read after a death may have been written by a process that has gone wrong: whatever
// stands in journals and marks, recovery stays within the mapping, changes no lock, loses nothing
// that is sound, and a check of the store tells that there was damage.
//
// A note that names a key's data is believed, since nothing tells it from a true one. So the notes
// that are made up here name anything else, or say of data what stands there.

#define _GNU_SOURCE
#include "store/shared/shared.h"
#include "support.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE        ((size_t)4 << 20) // two journals
#define GUARD       ((size_t)33 << 30)
#define SEEDS       400
#define KEYS        40
#define HANGS_AFTER 100 // seconds; a lock that was changed may be waited for for ever

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __wrap_munmap(void *, size_t);

// Around a store nothing may be touched, as far as a word's number in 32 bits reaches.
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    if (file < 0) {
        return __real_mmap(at, size, protection, flags, file, offset);
    }
    char *guard = __real_mmap(NULL, GUARD + size + GUARD, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(guard, MAP_FAILED);
    return __real_mmap(guard + GUARD, size, protection, flags | MAP_FIXED, file, offset);
}

int __wrap_munmap(void *at, size_t size)
{
    return size == SIZE ? __real_munmap((char *)at - GUARD, GUARD + size + GUARD)
                        : __real_munmap(at, size);
}

typedef struct scene {
    memory_store *m;
    weir_limit bucket, log, counter, leases;
    uint64_t random;
    bool damaged; // an index is beyond what it may be, and a check must tell
} scene;

// How all keys look from outside.
typedef struct look {
    int64_t remaining[4][KEYS];
} look;

static void name_key(char out[16], int i)
{
    snprintf(out, 16, "key %d", i);
}

static void take_each(scene *s, int i, int64_t now_us)
{
    char key[16];
    name_key(key, i);
    const weir_limit *limits[] = {&s->bucket, &s->log, &s->counter, &s->leases};
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        assert_true(test_take(&s->m->store, limits[k], key, 1, now_us).allowed);
    }
}

static look look_at(scene *s)
{
    look l;
    const weir_limit *limits[] = {&s->bucket, &s->log, &s->counter, &s->leases};
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        for (int i = 0; i < KEYS; i++) {
            char key[16];
            name_key(key, i);
            l.remaining[k][i] = test_peek(&s->m->store, limits[k], key, 0, NOW).remaining;
        }
    }
    return l;
}

static void open_scene(scene *s, uint64_t seed)
{
    *s = (scene){
        .bucket = LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 100, .period_us = WEIR_HOUR),
        .log = LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 100, .window_us = WEIR_HOUR),
        .counter = LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = 100, .window_us = WEIR_HOUR,
                         .slots = 6),
        .leases = LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 100, .ttl_us = WEIR_HOUR),
        .random = seed,
    };
    weir_store *store = NULL;
    weir_error error = {0};
    const weir_shared_options options = {
        .size_bytes = SIZE, .side_bytes = SIZE / 4, .seed = {1, 2}};
    if (weir_shared_open(&store, &options, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    s->m = (memory_store *)store;
    for (int i = 0; i < KEYS; i++) {
        take_each(s, i, NOW);
    }
}

static bool chance(scene *s)
{
    return test_random(&s->random) % 2 == 0;
}

// Small, close to what is allowed, or anything.
static uint64_t odd_number(scene *s, uint64_t allowed)
{
    switch (test_random(&s->random) % 4) {
    case 0:
        return test_random(&s->random) % 8;
    case 1:
        return allowed + test_random(&s->random) % 3;
    case 2:
        return test_random(&s->random) & UINT32_MAX;
    default:
        return test_random(&s->random);
    }
}

static bool is_data(const scene *s, uint64_t word)
{
    const memory_store *m = s->m;
    const char *at = (const char *)((const uint64_t *)m->head + word);
    return at >= (const char *)m->table.sets && at < (const char *)m->head + m->size_bytes;
}

static bool may_be_noted(const scene *s, const weir_journal *journal, uint64_t word)
{
    const uint64_t *at = (const uint64_t *)s->m->head + word;
    const uint64_t *lists = (const uint64_t *)s->m->head->side_free;
    return is_data(s, word) || (at >= &journal->spare_bits && at < &journal->spares[32]) ||
           (at >= lists && at < lists + sizeof s->m->head->side_free / sizeof *lists);
}

static void scribble_notes(scene *s, weir_journal *journal)
{
    const uint64_t words = s->m->size_bytes / sizeof(uint64_t);
    const uint64_t *mapping = (const uint64_t *)s->m->head;
    journal->count = (uint32_t)odd_number(s, WEIR_JOURNAL_NOTES);
    s->damaged |= journal->count > WEIR_JOURNAL_NOTES;
    for (uint32_t i = 0; i < journal->count && i < WEIR_JOURNAL_NOTES; i++) {
        uint64_t where = chance(s) ? test_random(&s->random) % words : odd_number(s, words);
        where &= UINT32_MAX;
        const bool noted = may_be_noted(s, journal, where);
        journal->where[i] = (uint32_t)where;
        journal->was[i] = noted ? mapping[where] : odd_number(s, 0);
        s->damaged |= !noted;
    }
}

// Blocks that are none: too far, too large, or in the midst of one.
static void scribble_spares(scene *s, weir_journal *journal)
{
    journal->spare_bits = odd_number(s, WEIR_JOURNAL_SPARES);
    for (int i = 0; i < WEIR_JOURNAL_SPARES; i++) {
        const uint64_t unit = odd_number(s, s->m->side.count);
        const unsigned order = 20 + (unsigned)(test_random(&s->random) % 44);
        journal->spares[i] = unit << 6 | order;
    }
    s->damaged |= journal->spare_bits != 0;
}

// Of a journal that there is not; or of one that there is, but hardly of its call.
static uint64_t odd_token(scene *s)
{
    const uint64_t token = odd_number(s, s->m->journal_count), number = token & 255;
    s->damaged |= token != 0 && (number == 0 || number > s->m->journal_count);
    return token;
}

static void scribble_group(scene *s, weir_group *group)
{
    group->call = odd_token(s);
    if (chance(s)) {
        memset(&group->undo, 0xa5, sizeof group->undo);
        group->undo_at = WEIR_GROUP_SETS * WEIR_SET_CELLS + 1 + odd_number(s, 0);
        s->damaged |= group->undo_at != 0;
    }
}

static void scribble_journal(scene *s, weir_journal *journal)
{
    if (chance(s)) {
        journal->at = (uint32_t)odd_number(s, 0);
    }
    if (chance(s)) {
        journal->call = odd_number(s, 0);
    }
    if (chance(s)) {
        scribble_spares(s, journal);
    }
    if (chance(s)) {
        scribble_notes(s, journal);
    }
}

// A process writes over all that recovery reads, and dies with the locks in its hands.
static void die_in_damage(scene *s, weir_journal *journal, weir_group *group)
{
    weir_memory_head *head = s->m->head;
    pthread_mutex_lock(&journal->lock);
    pthread_mutex_lock(&group->lock);
    pthread_mutex_lock(&head->side_lock);
    scribble_journal(s, journal);
    s->damaged |= journal->count > 0 && journal->call >> 56 != 0; // such a call there never is
    if (chance(s)) {
        scribble_group(s, group);
    }
    if (chance(s)) {
        head->side_call = odd_token(s);
    }
}

// Or it writes over a journal that nobody has, in which there should be nothing.
static void leave_damage(scene *s, weir_journal *journal)
{
    scribble_journal(s, journal);
    s->damaged |= journal->count > 0;
}

// What the process made of the scene its exit status tells.
static void damage(scene *s)
{
    memory_store *m = s->m;
    weir_journal *journal = &m->journals[test_random(&s->random) % m->journal_count];
    weir_group *group = &m->table.groups[test_random(&s->random) % m->table.group_count];
    const bool dies = chance(s);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dies) {
            die_in_damage(s, journal, group);
        } else {
            leave_damage(s, journal);
        }
        _exit(s->damaged);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    s->damaged = WEXITSTATUS(status);
}

static void assert_told(scene *s, uint64_t seed)
{
    weir_shared_report report;
    weir_error error = {0};
    const weir_status status = weir_shared_check(&s->m->store, &report, &error);
    if (status != (s->damaged ? WEIR_STATE : WEIR_OK)) {
        fail_msg("seed %d: %s %s", (int)seed, weir_status_name(status), error.message);
    }
    if (s->damaged) {
        assert_non_null(strstr(error.message, "damaged"));
    }
}

static void recovery_survives_whatever_was_written(void **state)
{
    (void)state;
    alarm(HANGS_AFTER);
    const char *text = getenv("WEIR_SEED");
    const uint64_t base = text != NULL ? strtoull(text, NULL, 10) * SEEDS : 0;
    int told = 0;
    for (uint64_t seed = base; seed < base + SEEDS; seed++) {
        scene s;
        open_scene(&s, seed);
        const look before = look_at(&s);
        damage(&s);
        if (chance(&s)) { // by turns the check meets the dead first, or a call
            assert_told(&s, seed);
        }
        const look after = look_at(&s);
        if (memcmp(&before, &after, sizeof before) != 0) {
            fail_msg("seed %d: keys look other than before", (int)seed);
        }
        for (int i = 0; i < KEYS; i++) {
            take_each(&s, i, NOW + 1);
        }
        assert_told(&s, seed);
        told += s.damaged;
        weir_store_close(&s.m->store);
    }
    assert_in_range(told, SEEDS / 2, SEEDS - 1);
    alarm(0);
}

static void a_key_whose_block_is_none_is_told_and_can_be_reset(void **state)
{
    (void)state;
    static const uint64_t blocks[] = {1, UINT64_C(1) << 50, 1 << 6 | 31, 1 << 6 | 32, 1 << 6 | 63};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        scene s;
        open_scene(&s, 0);
        weir_store *store = &s.m->store;
        const weir_check check = check_of(&s.log, "key 0", 1);
        const weir_place place = weir_table_place(&s.m->table, weir_memory_tag(s.m, &check));
        weir_table_find(&place)->second = blocks[i];
        weir_decision decision;
        weir_shared_report report;
        weir_error error = {0};
        assert_int_equal(weir_shared_check(store, &report, &error), WEIR_STATE);
        assert_non_null(strstr(error.message, "has a block that is none"));
        assert_int_equal(weir_store_peek(store, &check, NOW, &decision, &error), WEIR_STATE);
        assert_int_equal(weir_store_take(store, &check, NOW, &decision, &error), WEIR_STATE);
        assert_non_null(strstr(error.message, "limit \"test\" that was damaged; reset it"));
        assert_int_equal(weir_store_reset(store, &check, &error), WEIR_OK);
        assert_int_equal(test_take(store, &s.log, "key 0", 1, NOW).remaining, 99);
        weir_store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_whose_block_is_none_is_told_and_can_be_reset),
        cmocka_unit_test(recovery_survives_whatever_was_written),
    };
    return cmocka_run_group_tests_name("damaged", tests, NULL, NULL);
}
