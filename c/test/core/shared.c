// A shared store is found again as it was, refused or made anew when it does not fit, and whatever
// else lies under its name is answered with a status and a sentence.

#define _GNU_SOURCE
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)512 << 10)

typedef struct place {
    char directory[64];
    char path[80];
} place;

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    snprintf(p->directory, sizeof p->directory, "/tmp/weir-shared-XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->path, sizeof p->path, "%s/store", p->directory);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    place *p = *state;
    remove(p->path);
    const int status = rmdir(p->directory);
    free(p);
    return status;
}

static weir_store *open_store(const weir_shared_options *options)
{
    weir_store *store = NULL;
    weir_error error = {0};
    if (weir_shared_open(&store, options, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return store;
}

static void assert_refused(const weir_shared_options *options, weir_status expected)
{
    weir_store *store = NULL;
    weir_error error = {0};
    const weir_status status = weir_shared_open(&store, options, &error);
    if (status != expected) {
        fail_msg("%s instead of %s: %s", weir_status_name(status), weir_status_name(expected),
                 error.message);
    }
    assert_null(store);
    assert_true(strlen(error.message) > 10);
}

#define REFUSED(expected, ...) assert_refused(&(weir_shared_options){__VA_ARGS__}, expected)
#define OPEN(...)              open_store(&(weir_shared_options){__VA_ARGS__})

static weir_limit ten(void)
{
    return LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_HOUR);
}

static int64_t left_in(weir_store *store)
{
    const weir_limit limit = ten();
    return test_peek(store, &limit, "key", 0, NOW).remaining;
}

static void take_three(weir_store *store)
{
    const weir_limit limit = ten();
    assert_true(test_take(store, &limit, "key", 3, NOW).allowed);
}

static void two_who_open_it_see_the_same_counts(void **state)
{
    const place *p = *state;
    weir_store *one = OPEN(.path = p->path, .size_bytes = SIZE);
    weir_store *other = OPEN(.path = p->path);
    take_three(one);
    assert_int_equal(left_in(other), 7);
    take_three(other);
    assert_int_equal(left_in(one), 4);
    weir_store_close(one);
    weir_store_close(other);
    weir_store *later = OPEN(.path = p->path);
    assert_int_equal(left_in(later), 4);
    weir_store_close(later);
}

static void a_name_is_removed_once_and_again(void **state)
{
    (void)state;
    char name[32];
    weir_error error = {0};
    snprintf(name, sizeof name, "weir-test-%d", (int)getpid());
    weir_store *one = OPEN(.name = name, .size_bytes = SIZE);
    take_three(one);
    assert_int_equal(weir_shared_remove(name, NULL, &error), WEIR_OK);
    assert_int_equal(weir_shared_remove(name, NULL, &error), WEIR_OK);
    weir_store *fresh = OPEN(.name = name, .size_bytes = SIZE);
    assert_int_equal(left_in(fresh), 10);
    assert_int_equal(left_in(one), 7);
    weir_store_close(one);
    weir_store_close(fresh);
    assert_int_equal(weir_shared_remove(name, NULL, &error), WEIR_OK);
    assert_int_equal(weir_shared_remove(NULL, NULL, &error), WEIR_INVALID);
}

static void what_does_not_fit_is_refused_and_stays(void **state)
{
    const place *p = *state;
    weir_store *store = OPEN(.path = p->path, .size_bytes = SIZE, .seed = {1, 2});
    take_three(store);
    REFUSED(WEIR_MISMATCH, .path = p->path, .size_bytes = 2 * SIZE);
    REFUSED(WEIR_MISMATCH, .path = p->path, .seed = {3, 4});
    REFUSED(WEIR_MISMATCH, .path = p->path, .side_bytes = 64 << 10);
    REFUSED(WEIR_MISMATCH, .path = p->path, .no_side = true);
    assert_int_equal(left_in(store), 7);
    weir_store_close(store);
}

static void side_memory_leaves_room_for_keys(void **state)
{
    (void)state;
    const size_t sizes[] = {(size_t)256 << 10, (size_t)2 << 20, (size_t)64 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t all_but_32k = sizes[i] - ((size_t)32 << 10);
        const size_t all_but_512k =
            sizes[i] > ((size_t)1 << 20) ? sizes[i] - ((size_t)512 << 10) : 0;
        REFUSED(WEIR_INVALID, .size_bytes = sizes[i], .side_bytes = all_but_32k);
        weir_store *store = OPEN(.size_bytes = sizes[i], .side_bytes = all_but_512k);
        take_three(store);
        assert_int_equal(left_in(store), 7);
        weir_store_close(store);
    }
}

static void what_does_not_fit_is_made_anew_when_asked(void **state)
{
    const place *p = *state;
    weir_store *old = OPEN(.path = p->path, .size_bytes = SIZE);
    take_three(old);
    weir_store *fresh =
        OPEN(.path = p->path, .size_bytes = 2 * SIZE, .misfit = WEIR_MISFIT_REBUILD);
    assert_int_equal(left_in(fresh), 10);
    assert_int_equal(left_in(old), 7);
    weir_store_close(old);
    weir_store_close(fresh);
}

static void write_at(const char *path, const void *bytes, size_t size, off_t at)
{
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, size, at), size);
    close(file);
}

static void another_version_is_refused_or_made_anew(void **state)
{
    const place *p = *state;
    weir_store_close(OPEN(.path = p->path, .size_bytes = SIZE));
    write_at(p->path, "\xff", 1, 0);
    REFUSED(WEIR_MISMATCH, .path = p->path);
    weir_store *store = OPEN(.path = p->path, .misfit = WEIR_MISFIT_REBUILD, .size_bytes = SIZE);
    assert_int_equal(left_in(store), 10);
    weir_store_close(store);
}

static void a_file_that_is_no_store_is_refused(void **state)
{
    const place *p = *state;
    char garbage[5000];
    memset(garbage, 'x', sizeof garbage);
    write_at(p->path, garbage, sizeof garbage, 0);
    REFUSED(WEIR_MISMATCH, .path = p->path);
    assert_int_equal(truncate(p->path, 3), 0);
    REFUSED(WEIR_MISMATCH, .path = p->path);
}

static void a_file_cut_short_is_refused(void **state)
{
    const place *p = *state;
    weir_store_close(OPEN(.path = p->path, .size_bytes = SIZE));
    static const off_t sizes[] = {SIZE - 1, 4096, 200, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(truncate(p->path, sizes[i]), 0);
        REFUSED(WEIR_MISMATCH, .path = p->path);
    }
}

static void an_empty_file_becomes_a_store(void **state)
{
    const place *p = *state;
    write_at(p->path, "", 0, 0);
    weir_store *store = OPEN(.path = p->path, .size_bytes = SIZE);
    take_three(store);
    weir_store_close(store);
}

static void a_directory_and_a_link_are_refused(void **state)
{
    const place *p = *state;
    REFUSED(WEIR_IO, .path = p->directory);
    assert_int_equal(symlink("/dev/null", p->path), 0);
    REFUSED(WEIR_IO, .path = p->path);
    REFUSED(WEIR_IO, .path = "/nowhere/at/all");
    REFUSED(WEIR_INVALID, .path = "/dev/null");
}

static void mode_and_owner_are_those_asked_for(void **state)
{
    const place *p = *state;
    struct stat info;
    weir_error error = {0};
    weir_store_close(OPEN(.path = p->path, .size_bytes = SIZE));
    assert_int_equal(stat(p->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(weir_shared_remove(NULL, p->path, &error), WEIR_OK);
    const int64_t owner = geteuid() == 0 ? 65534 : (int64_t)geteuid();
    weir_store_close(OPEN(.path = p->path, .size_bytes = SIZE, .mode = 0660, .owner = owner));
    assert_int_equal(stat(p->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0660);
    assert_int_equal(info.st_uid, owner);
    if (owner != (int64_t)geteuid()) { // to a root that does not name it, it is a stranger's
        REFUSED(WEIR_NOT_PERMITTED, .path = p->path);
    }
}

static void more_than_there_is_room_for_is_no_memory(void **state)
{
    (void)state;
    struct statvfs room;
    const size_t bytes = (size_t)30 << 30;
    assert_int_equal(statvfs("/dev/shm", &room), 0);
    if ((uint64_t)room.f_blocks * room.f_frsize >= bytes) {
        return; // such a store would be had, and the machine has other uses for it
    }
    char name[40];
    snprintf(name, sizeof name, "weir-test-large-%d", (int)getpid());
    REFUSED(WEIR_NO_MEMORY, .name = name, .size_bytes = bytes);
    assert_int_equal(weir_shared_remove(name, NULL, NULL), WEIR_OK);
}

static void processes_share_a_limit_exactly(void **state)
{
    (void)state;
    enum { PROCESSES = 2, TAKES = 10000, PASS = 15000 };
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = PASS, .window_us = WEIR_HOUR);
    const weir_limit counts =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 1 << 20, .window_us = WEIR_HOUR);
    weir_store *store = OPEN(.size_bytes = SIZE);
    pid_t children[PROCESSES];
    for (int c = 0; c < PROCESSES; c++) {
        children[c] = fork();
        assert_true(children[c] >= 0);
        for (int i = 0; children[c] == 0 && i < TAKES; i++) {
            if (test_take(store, &limit, "key", 1, NOW).allowed) {
                test_take(store, &counts, "passed", 1, NOW);
            }
        }
        if (children[c] == 0) {
            _exit(0);
        }
    }
    for (int c = 0; c < PROCESSES; c++) {
        int status;
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    const weir_decision passed = test_peek(store, &counts, "passed", 0, NOW);
    assert_int_equal(passed.limit - passed.remaining, PASS);
    assert_int_equal(test_peek(store, &limit, "key", 0, NOW).remaining, 0);
    weir_store_close(store);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(two_who_open_it_see_the_same_counts),
        cmocka_unit_test(a_name_is_removed_once_and_again),
        IN_PLACE(what_does_not_fit_is_refused_and_stays),
        IN_PLACE(what_does_not_fit_is_made_anew_when_asked),
        IN_PLACE(another_version_is_refused_or_made_anew),
        IN_PLACE(a_file_that_is_no_store_is_refused),
        IN_PLACE(a_file_cut_short_is_refused),
        IN_PLACE(an_empty_file_becomes_a_store),
        IN_PLACE(a_directory_and_a_link_are_refused),
        IN_PLACE(mode_and_owner_are_those_asked_for),
        cmocka_unit_test(side_memory_leaves_room_for_keys),
        cmocka_unit_test(more_than_there_is_room_for_is_no_memory),
        cmocka_unit_test(processes_share_a_limit_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
