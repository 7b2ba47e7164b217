// A process may be killed at any instruction: what it was doing to a shared store counts in whole
// or not at all, and nobody waits for it.
//
// A child does one operation, one instruction at a time, and is killed after the nth; n grows until
// it gets to the end. Each operation is rehearsed first without a death, which tells how its keys
// look before and after, and after a death they must look like one or the other.
//
// What others find of the dead is the mapping and, in the kernel, its locks. So a child is killed
// after each instruction that changes the mapping, and after every so many of the others.

#define _GNU_SOURCE
#include "core/step.h"
#include "store/memory/memory.h"
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS_MAX    2
#define LOOKS       32   // at a key, over one span of its limit
#define FULL        1400 // others that are more than the table has cells
#define CROWDED     1030 // others of which one has to move for the key
#define HANGS_AFTER 100  // seconds; a store that waits for the dead would wait for ever

enum { NOT_BEGUN, BEGUN, DONE };

typedef enum deed { TAKE, TAKE_ALL, RELEASE, REFUND, CHARGE, RESET } deed;

typedef struct operation {
    deed deed;
    int64_t cost;
    weir_limit_options limits[KEYS_MAX]; // one a key
    void (*prepare)(weir_store *store, const weir_check *checks);
    int others;       // keys that are there before
    int runs;         // of records in the block of each of those
    unsigned death;   // another process died in the same operation before, after so many steps
    unsigned stride;  // after every how many instructions a child is killed, changes or not
    const char *name; // for messages
} operation;

typedef struct scene {
    const operation *op;
    weir_store *store;
    weir_limit limits[KEYS_MAX];
    weir_check checks[KEYS_MAX];
    size_t count;
    weir_limit filling;  // of the others
    walk *first_way;     // of the one that died before
    volatile int *stage; // how far the child is, in memory that it shares
} scene;

// How the keys look from outside, now and later: what is recorded shows as it expires, piece by
// piece.
typedef struct look {
    int64_t remaining[KEYS_MAX][LOOKS];
    int64_t reset_after_us[KEYS_MAX][LOOKS];
    int64_t retry_after_us[KEYS_MAX][LOOKS];
} look;

static weir_status perform(scene *s, weir_decision *out)
{
    const weir_check *check = &s->checks[0];
    switch (s->op->deed) {
    case TAKE:
        return weir_store_take(s->store, check, NOW, out, NULL);
    case TAKE_ALL:
        return weir_store_take_all(s->store, check, s->count, NOW, out, NULL, NULL);
    case RELEASE:
        return weir_store_release(s->store, check, NOW, out, NULL);
    case REFUND:
        return weir_store_refund(s->store, check, NOW, out, NULL);
    case CHARGE:
        return weir_store_charge(s->store, check, NOW, out, NULL);
    case RESET:
        return weir_store_reset(s->store, check, NULL);
    }
    return WEIR_INVALID;
}

static void look_at_key(scene *s, size_t i, look *l)
{
    weir_check check = s->checks[i];
    check.id = "nobody";
    check.id_size = strlen("nobody");
    for (int k = 0; k < LOOKS; k++) {
        weir_decision d;
        const int64_t later_us = k * check.limit->span_us / (LOOKS - 1);
        assert_int_equal(weir_store_peek(s->store, &check, NOW + later_us, &d, NULL), WEIR_OK);
        l->remaining[i][k] = d.remaining;
        l->reset_after_us[i][k] = d.reset_after_us;
        l->retry_after_us[i][k] = d.retry_after_us;
    }
}

static look look_at(scene *s)
{
    look l = {0};
    for (size_t i = 0; i < s->count; i++) {
        look_at_key(s, i, &l);
    }
    return l;
}

static weir_shared_report check_store(scene *s, unsigned n)
{
    weir_shared_report report;
    weir_error error = {0};
    if (weir_shared_check(s->store, &report, &error) != WEIR_OK) {
        fail_msg("%s, killed after %u steps: %s", s->op->name, n, error.message);
    }
    assert_true(report.settled);
    return report;
}

static void act(scene *s)
{
    weir_decision decision;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(1);
    }
    raise(SIGSTOP);
    *s->stage = BEGUN;
    perform(s, &decision);
    *s->stage = DONE;
    _exit(0);
}

// A child that stands before the operation.
static pid_t begin(scene *s)
{
    *s->stage = NOT_BEGUN;
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act(s);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    while (*s->stage == NOT_BEGUN) {
        assert_true(resume(child, PTRACE_SINGLESTEP));
    }
    return child;
}

static void end(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void die_after(scene *s, const walk *way, unsigned steps)
{
    const pid_t child = begin(s);
    assert_true(walk_to(way, child, steps));
    assert_int_equal(*s->stage, BEGUN);
    end(child);
}

static void fill(scene *s)
{
    for (int i = 0; i < s->op->others; i++) {
        char key[24];
        snprintf(key, sizeof key, "other %d", i);
        for (int ago_us = s->op->runs; ago_us >= 0; ago_us--) {
            test_take(s->store, &s->filling, key, 1, NOW - 1 - ago_us);
        }
    }
}

static void reset_all(scene *s)
{
    for (size_t i = 0; i < s->count; i++) {
        assert_int_equal(weir_store_reset(s->store, &s->checks[i], NULL), WEIR_OK);
    }
    for (int i = 0; i < s->op->others; i++) {
        char key[24];
        snprintf(key, sizeof key, "other %d", i);
        const weir_check check = check_of(&s->filling, key, 1);
        assert_int_equal(weir_store_reset(s->store, &check, NULL), WEIR_OK);
    }
}

// The state before the operation, always the same. A search for side memory begins where the last
// one ended.
static void prepare(scene *s)
{
    ((memory_store *)s->store)->head->sweep = 0;
    reset_all(s);
    fill(s);
    if (s->op->prepare != NULL) {
        s->op->prepare(s->store, s->checks);
    }
    if (s->first_way != NULL) {
        die_after(s, s->first_way, s->op->death);
    }
}

// Steps once through the whole operation, and notes after which steps the mapping was changed.
static void rehearse(scene *s, walk *way, bool *changes)
{
    const memory_store *m = (const memory_store *)s->store;
    way->length = 0;
    way->nearest[0] = 0;
    const pid_t child = begin(s);
    char *before = malloc(m->size_bytes);
    assert_non_null(before);
    memcpy(before, m->head, m->size_bytes);
    while (resume(child, PTRACE_SINGLESTEP) && *s->stage == BEGUN) {
        walk_on(way, child);
        changes[way->length] = memcmp(before, m->head, m->size_bytes) != 0;
        if (changes[way->length]) {
            memcpy(before, m->head, m->size_bytes);
        }
    }
    free(before);
    assert_int_equal(*s->stage, DONE);
    end(child);
}

// Forgets all keys; nothing of side memory may be lost.
static void assert_nothing_lost(scene *s, unsigned n, uint64_t free_bytes)
{
    reset_all(s);
    const weir_shared_report report = check_store(s, n);
    assert_int_equal(report.keys, 0);
    assert_int_equal(report.blocks, 0);
    assert_int_equal(report.free_bytes, free_bytes);
}

// After a death the keys look as before it or as if it had not been. By turns a check of the whole
// store meets the dead first, or a call on one key.
static void assert_whole(scene *s, unsigned n, const look *before, const look *after)
{
    if (n % 2 == 0) {
        check_store(s, n);
    }
    const look now = look_at(s);
    if (memcmp(&now, before, sizeof now) != 0 && memcmp(&now, after, sizeof now) != 0) {
        fail_msg("%s, killed after %u steps, counted in part: %d and %d remain, at last %d and %d",
                 s->op->name, n, (int)now.remaining[0][0], (int)now.remaining[1][0],
                 (int)now.remaining[0][LOOKS - 1], (int)now.remaining[1][LOOKS - 1]);
    }
    check_store(s, n);
    weir_decision decision;
    assert_int_equal(weir_store_take_all(s->store, s->checks, s->count, NOW, &decision, NULL, NULL),
                     WEIR_OK);
    check_store(s, n);
}

static unsigned stride_of(const operation *op)
{
    const char *text = getenv("WEIR_TEST_STRIDE");
    const unsigned stride = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
    return stride > 0 ? stride : op->stride;
}

static void open_scene(scene *s)
{
    s->filling = LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 1000, .window_us = 1000);
    s->stage = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(s->stage, MAP_FAILED);
    for (; s->count < KEYS_MAX && s->op->limits[s->count].name != NULL; s->count++) {
        s->limits[s->count] = test_limit(&s->op->limits[s->count]);
        s->checks[s->count] = check_of(&s->limits[s->count], "key", s->op->cost);
    }
    const weir_shared_options options = {
        .size_bytes = 256 << 10, .side_bytes = 192 << 10, .seed = {1, 2}};
    weir_error error = {0};
    if (weir_shared_open(&s->store, &options, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
}

static void kill_at_every_step(void **state)
{
    static walk way, first_way;
    static bool changes[STEPS_MAX];
    scene s = {.op = *state};
    alarm(HANGS_AFTER);
    open_scene(&s);
    const uint64_t free_bytes = check_store(&s, 0).free_bytes;

    if (s.op->death > 0) {
        prepare(&s);
        rehearse(&s, &first_way, changes);
        s.first_way = &first_way;
    }
    prepare(&s);
    const look before = look_at(&s);
    prepare(&s);
    rehearse(&s, &way, changes);
    const look after = look_at(&s);
    assert_memory_not_equal(&before, &after, sizeof before);

    const unsigned stride = stride_of(s.op);
    const unsigned phase = (unsigned)(s.op->cost + s.op->deed) % stride;
    unsigned n, kills = 0;
    for (n = 1; n <= way.length; n++) {
        if (!changes[n] && n % stride != phase) {
            continue;
        }
        kills++;
        prepare(&s);
        die_after(&s, &way, n);
        assert_whole(&s, n, &before, &after);
    }
    assert_true(check_store(&s, n).deaths > 0);
    if (getenv("WEIR_TEST_STEPS") != NULL) {
        print_message("%s: %u steps, %u kills, %d deaths seen\n", s.op->name, way.length, kills,
                      (int)check_store(&s, n).deaths);
    }
    assert_nothing_lost(&s, n, free_bytes);
    alarm(0);
    weir_store_close(s.store);
    munmap((void *)s.stage, sizeof(int));
}

static void take_at(weir_store *store, const weir_check *check, const char *id, int64_t ago_us)
{
    weir_check c = *check;
    c.cost = 1;
    c.id = id;
    c.id_size = strlen(id);
    weir_decision decision;
    assert_int_equal(weir_store_take(store, &c, NOW - ago_us, &decision, NULL), WEIR_OK);
    assert_true(decision.allowed);
}

static void one_is_taken(weir_store *store, const weir_check *checks)
{
    take_at(store, &checks[0], "a", 5);
}

// Both words of the state change at once in the next window.
static void a_window_has_passed(weir_store *store, const weir_check *checks)
{
    take_at(store, &checks[0], "a", WEIR_HOUR);
}

static void both_are_taken(weir_store *store, const weir_check *checks)
{
    take_at(store, &checks[0], "a", 5);
    take_at(store, &checks[1], "a", 5);
}

// Three runs, as many as the smallest block holds, of which the ring has wrapped around.
static void a_log_is_full(weir_store *store, const weir_check *checks)
{
    static const int64_t ago_us[] = {1900, 1850, 900, 800, 700};
    for (size_t i = 0; i < sizeof ago_us / sizeof ago_us[0]; i++) {
        take_at(store, &checks[0], "a", ago_us[i]);
    }
}

// What comes at the same instant changes one word in the block of each.
static void both_are_taken_now(weir_store *store, const weir_check *checks)
{
    take_at(store, &checks[0], "a", 0);
    take_at(store, &checks[1], "a", 0);
}

// As many runs as the limit lets it keep, so that a charge writes over the oldest.
static void three_are_taken(weir_store *store, const weir_check *checks)
{
    for (int64_t ago_us = 900; ago_us >= 700; ago_us -= 100) {
        take_at(store, &checks[0], "a", ago_us);
    }
}

// Of which a refund of three forgets one and writes the other anew.
static void pairs_are_taken(weir_store *store, const weir_check *checks)
{
    for (int64_t ago_us = 400; ago_us >= 300; ago_us -= 50) {
        test_take(store, checks[0].limit, "key", 2, NOW - ago_us);
    }
}

static void log_and_leases_are_full(weir_store *store, const weir_check *checks)
{
    static const char *const ids[] = {"a", "b", "c"};
    a_log_is_full(store, checks);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        take_at(store, &checks[1], ids[i], 100 + (int64_t)i);
    }
}

static void slots_have_passed(weir_store *store, const weir_check *checks)
{
    for (int64_t ago_us = 7000; ago_us >= 2000; ago_us -= 500) {
        take_at(store, &checks[0], "a", ago_us);
    }
}

// So many that in a call on two keys they go from a copy of the block.
static void many_have_lapsed(weir_store *store, const weir_check *checks)
{
    char id[16];
    for (int i = 0; i < 22; i++) {
        snprintf(id, sizeof id, "lapsed %d", i);
        take_at(store, &checks[0], id, 1500 - i);
    }
    take_at(store, &checks[0], "a", 700);
    take_at(store, &checks[0], "b", 600);
}

static void the_id_is_held(weir_store *store, const weir_check *checks)
{
    take_at(store, &checks[0], "a", 300);
    take_at(store, &checks[0], checks[0].id, 200);
    take_at(store, &checks[0], "b", 100);
}

// Of each key two records lie ahead, and one does not.
static void the_clock_has_stepped_back(weir_store *store, const weir_check *checks)
{
    static const int64_t ahead_us[] = {0, 5000, 5100};
    static const char *const ids[] = {"a", "b", "c"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        take_at(store, &checks[0], ids[i], -ahead_us[i]);
        take_at(store, &checks[1], ids[i], -ahead_us[i]);
    }
}

#define BUCKET                                                                                     \
    {                                                                                              \
        .name = "bucket", .algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_SECOND     \
    }
#define WINDOW                                                                                     \
    {                                                                                              \
        .name = "window", .algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_HOUR      \
    }
#define LOG                                                                                        \
    {                                                                                              \
        .name = "log", .algorithm = WEIR_SLIDING_LOG, .limit = 100, .window_us = 1000              \
    }
#define SHORT_LOG                                                                                  \
    {                                                                                              \
        .name = "log", .algorithm = WEIR_SLIDING_LOG, .limit = 3, .window_us = 1000                \
    }
#define COUNTER                                                                                    \
    {                                                                                              \
        .name = "counter", .algorithm = WEIR_SLIDING_COUNTER, .limit = 100, .window_us = 6000,     \
        .slots = 6                                                                                 \
    }
#define LEASES                                                                                     \
    {                                                                                              \
        .name = "leases", .algorithm = WEIR_CONCURRENCY, .limit = 100, .ttl_us = 1000              \
    }

static operation take_known = {TAKE, 1, {BUCKET}, one_is_taken, .stride = 1, .name = "take"};
static operation take_new = {TAKE, 2, {BUCKET}, .stride = 1, .name = "take of a new key"};
static operation roll = {TAKE, 2, {WINDOW}, a_window_has_passed, .stride = 1, .name = "new window"};
static operation take_full = {
    TAKE, 1, {BUCKET}, .others = FULL, .stride = 97, .name = "take in a full table"};
static operation log_full = {
    TAKE, 2, {LOG}, .others = FULL, .stride = 97, .name = "log in a full table"};
static operation grow_at_cost = {
    TAKE_ALL,       1,         {LOG, LEASES}, log_and_leases_are_full,
    .others = FULL, .runs = 8, .stride = 389, .name = "blocks that grow at the cost of another"};
static operation make_room = {
    TAKE, 2, {BUCKET}, .others = CROWDED, .stride = 29, .name = "take that makes room"};
static operation take_two = {TAKE_ALL,       1,           {BUCKET, WINDOW},
                             both_are_taken, .stride = 1, .name = "take_all"};
static operation take_two_new = {
    TAKE_ALL, 1, {BUCKET, WINDOW}, .stride = 29, .name = "take_all of new keys"};
static operation grow_two = {
    TAKE_ALL, 1, {LOG, LEASES}, log_and_leases_are_full, .stride = 53, .name = "blocks that grow"};
static operation take_after_death = {
    TAKE, 1, {BUCKET}, one_is_taken, .death = 400, .stride = 11, .name = "take after a death"};
static operation grow_after_death = {TAKE_ALL,
                                     1,
                                     {LOG, LEASES},
                                     log_and_leases_are_full,
                                     .death = 4000,
                                     .stride = 163,
                                     .name = "blocks that grow after a death"};
static operation add_two = {
    TAKE_ALL, 1, {COUNTER, LOG}, both_are_taken_now, .stride = 29, .name = "take_all in blocks"};
static operation stepped = {
    TAKE_ALL, 1, {LOG, LEASES}, the_clock_has_stepped_back, .stride = 47, .name = "stepped clock"};
static operation oldest = {
    CHARGE, 1, {SHORT_LOG}, three_are_taken, .stride = 29, .name = "charge of a full log"};
static operation slide = {TAKE, 1, {COUNTER}, slots_have_passed, .stride = 29, .name = "slots"};
static operation lapse = {TAKE_ALL,        1, {LEASES, BUCKET}, many_have_lapsed, .stride = 199,
                          .name = "lapsed"};
static operation renew = {TAKE, 1, {LEASES}, the_id_is_held, .stride = 29, .name = "renew"};
static operation release = {RELEASE, 1, {LEASES}, the_id_is_held, .stride = 29, .name = "release"};
static operation refund = {REFUND, 3, {LOG}, pairs_are_taken, .stride = 29, .name = "refund"};
static operation reset = {RESET, 1, {LOG}, a_log_is_full, .stride = 29, .name = "reset"};
static operation charge = {CHARGE, 3, {BUCKET}, one_is_taken, .stride = 29, .name = "charge"};

#define KILLS(operation)                                                                           \
    {                                                                                              \
        .name = #operation, .test_func = kill_at_every_step, .initial_state = &(operation)         \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        KILLS(take_known),
        KILLS(roll),
        KILLS(take_new),
        KILLS(take_full),
        KILLS(log_full),
        KILLS(take_two),
        KILLS(take_two_new),
        KILLS(grow_two),
        KILLS(add_two),
        KILLS(oldest),
        KILLS(stepped),
        KILLS(renew),
        KILLS(slide),
        KILLS(lapse),
        KILLS(release),
        KILLS(refund),
        KILLS(grow_at_cost),
        KILLS(make_room),
        KILLS(reset),
        KILLS(charge),
        KILLS(take_after_death),
        KILLS(grow_after_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
