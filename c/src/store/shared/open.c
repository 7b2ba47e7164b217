// Limits in a mapping that processes share: opening, removing, closing.
//
// Who opens a mapping holds a lock on its file meanwhile, so one process makes it and the others
// find it made. The word that says what it is comes last, so a mapping whose maker died is known,
// and is made again.

#define _GNU_SOURCE // memfd_create
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "store/shared/shared.h"
#include "weir/shared.h"

#define DEFAULT_BYTES ((size_t)16 << 20)
#define LEAST_BYTES   ((size_t)256 << 10)
#define MOST_BYTES    ((size_t)32 << 30) // a journal names words of the mapping in 32 bits
#define PLACE_MAX     256

// What wrote a mapping: the version of its form, and the sizes by which another C library or
// another build would read it wrongly.
#define FORM                                                                                       \
    (UINT64_C(0x77656972) << 32 | UINT64_C(1) << 24 |                                              \
     ((sizeof(weir_journal) ^ sizeof(weir_memory_head) << 3 ^ sizeof(weir_group) << 6 ^            \
       sizeof(weir_set) << 9 ^ sizeof(pthread_mutex_t) << 12) &                                    \
      0xffffff))

// What stands there while a mapping is made.
#define UNFINISHED (UINT64_C(0x77656972) << 32)

// A file while it is opened. Its name is in POSIX shared memory, in the file system, or nowhere.
typedef struct place {
    char name[PLACE_MAX]; // "" for none
    bool is_path;
    int file;
} place;

static void shared_close(weir_store *store)
{
    memory_store *m = (memory_store *)store;
    munmap(m->head, m->size_bytes);
    free(m);
}

const weir_store_kind weir_shared_kind = {
    .take = weir_memory_take,
    .take_all = weir_memory_take_all,
    .take_many = weir_memory_take_many,
    .step = weir_memory_verb,
    .reset = weir_memory_reset,
    .now_us = weir_memory_now_us,
    .close = shared_close,
};

static weir_status read_place(place *out, const char *name, const char *path, weir_error *error)
{
    *out = (place){.file = -1};
    if (name != NULL && path != NULL) {
        return weir_fail(error, WEIR_INVALID, "name and path were both given; give one");
    }
    const char *text = name != NULL ? name : path;
    if (text == NULL) {
        return WEIR_OK;
    }
    out->is_path = path != NULL;
    const char *bare = name != NULL && name[0] == '/' ? name + 1 : text;
    if (bare[0] == '\0' || strlen(bare) > PLACE_MAX - 2) {
        return weir_fail(error, WEIR_INVALID, "%s was \"%.64s\"; it must be 1 to %d bytes long",
                         out->is_path ? "path" : "name", text, PLACE_MAX - 2);
    }
    if (name != NULL && strchr(bare, '/') != NULL) {
        return weir_fail(error, WEIR_INVALID,
                         "name was \"%.64s\"; it must have no slash but a first one", name);
    }
    snprintf(out->name, sizeof out->name, "%s%s", name != NULL ? "/" : "", bare);
    return WEIR_OK;
}

static weir_status check_options(const weir_shared_options *o, weir_error *error)
{
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    if (o->misfit != WEIR_MISFIT_REFUSE && o->misfit != WEIR_MISFIT_REBUILD) {
        return weir_fail(error, WEIR_INVALID, "misfit was %d; it must be a weir_misfit",
                         (int)o->misfit);
    }
    if (o->existing && o->misfit == WEIR_MISFIT_REBUILD) {
        return weir_fail(error, WEIR_INVALID,
                         "existing was given with misfit rebuild, which makes one; leave one out");
    }
    if (o->existing && o->name == NULL && o->path == NULL) {
        return weir_fail(error, WEIR_INVALID,
                         "existing was given without name or path; give one of them");
    }
    if (o->mode > 0777) {
        return weir_fail(error, WEIR_INVALID, "mode was 0%o; it must be at most 0777", o->mode);
    }
    if (o->owner < 0 || o->owner > UINT32_MAX - 1 || o->group < 0 || o->group > UINT32_MAX - 1) {
        return weir_fail(error, WEIR_INVALID,
                         "owner and group were %" PRId64 " and %" PRId64 "; they must be ids",
                         o->owner, o->group);
    }
    if (o->size_bytes != 0 && (o->size_bytes < LEAST_BYTES || o->size_bytes > MOST_BYTES)) {
        return weir_fail(error, WEIR_INVALID,
                         "size_bytes was %zu; it must be from 262144 (256 KiB) to 32 GiB",
                         o->size_bytes);
    }
    const size_t size = o->size_bytes != 0 ? o->size_bytes : DEFAULT_BYTES;
    return weir_memory_check_sizes(size, o->side_bytes, o->no_side, true, error);
}

static weir_status io_fails(const place *p, const char *what, weir_error *error)
{
    const weir_status status = errno == ENOSPC || errno == ENOMEM || errno == EFBIG ? WEIR_NO_MEMORY
                               : errno == EACCES || errno == EPERM ? WEIR_NOT_PERMITTED
                                                                   : WEIR_IO;
    return weir_fail(error, status, "shared memory \"%s\" could not be %s: %s", p->name, what,
                     strerror(errno));
}

static int open_file(const place *p, int flags)
{
    if (p->name[0] == '\0') {
        return memfd_create("weir", MFD_CLOEXEC);
    }
    return p->is_path ? open(p->name, flags | O_NOFOLLOW | O_CLOEXEC, 0600)
                      : shm_open(p->name, flags, 0600);
}

static int unlink_file(const place *p)
{
    return p->is_path ? unlink(p->name) : shm_unlink(p->name);
}

// Whether the file is one that only those whom we trust can write.
static weir_status check_owner(const place *p, const struct stat *info,
                               const weir_shared_options *o, weir_error *error)
{
    if (!S_ISREG(info->st_mode)) {
        return weir_fail(error, WEIR_INVALID, "\"%s\" is no regular file", p->name);
    }
    if (info->st_uid != geteuid() && info->st_uid != 0 && info->st_uid != (uid_t)o->owner) {
        return weir_fail(error, WEIR_NOT_PERMITTED,
                         "shared memory \"%s\" belongs to user %u; it must be ours, root's or the "
                         "owner's that is given",
                         p->name, (unsigned)info->st_uid);
    }
    return WEIR_OK;
}

// Opens and locks the file. One that was removed between the two is opened anew.
static weir_status open_locked(place *p, const weir_shared_options *o, struct stat *info,
                               weir_error *error)
{
    while (true) {
        p->file = open_file(p, o->existing ? O_RDWR : O_RDWR | O_CREAT);
        if (p->file < 0) {
            return io_fails(p, "opened", error);
        }
        while (flock(p->file, LOCK_EX) != 0) {
            if (errno != EINTR) {
                return io_fails(p, "locked", error);
            }
        }
        if (fstat(p->file, info) != 0) {
            return io_fails(p, "read", error);
        }
        if (info->st_nlink > 0 || p->name[0] == '\0') {
            return check_owner(p, info, o, error);
        }
        close(p->file);
    }
}

static weir_status map_file(const place *p, size_t bytes, weir_memory_head **out, weir_error *error)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->file, 0);
    if (start == MAP_FAILED) {
        return io_fails(p, "mapped", error);
    }
    madvise(start, bytes, MADV_HUGEPAGE); // a wish; without it all is well, only slower
    *out = start;
    return WEIR_OK;
}

// A mapping of the options' sizes, empty. Every page is had now.
static weir_status make(const place *p, const weir_shared_options *o, weir_memory_head **out,
                        weir_error *error)
{
    const size_t size = o->size_bytes != 0 ? o->size_bytes : DEFAULT_BYTES;
    const uint32_t mode = o->mode != 0 ? o->mode : 0600;
    const uid_t owner = o->owner != 0 ? (uid_t)o->owner : (uid_t)-1;
    const gid_t group = o->group != 0 ? (gid_t)o->group : (gid_t)-1;
    const uint64_t unfinished = UNFINISHED;
    if (ftruncate(p->file, 0) != 0 || fchown(p->file, owner, group) != 0 ||
        fchmod(p->file, mode) != 0 ||
        pwrite(p->file, &unfinished, sizeof unfinished, 0) != (ssize_t)sizeof unfinished) {
        return io_fails(p, "made", error);
    }
    const int full = posix_fallocate(p->file, 0, (off_t)size);
    if (full != 0) {
        if (ftruncate(p->file, 0) != 0) {
            return io_fails(p, "made", error);
        }
        errno = full;
        return io_fails(p, "given its size", error);
    }
    weir_status status = map_file(p, size, out, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir_memory_head *head = *out;
    head->size_bytes = size;
    head->side_bytes = o->no_side ? 0 : o->side_bytes != 0 ? o->side_bytes : size / 4;
    memcpy(head->seed, o->seed, sizeof head->seed);
    if ((o->seed[0] | o->seed[1]) == 0 &&
        getrandom(head->seed, sizeof head->seed, 0) != (ssize_t)sizeof head->seed) {
        munmap(head, size);
        return weir_fail(error, WEIR_IO, "the kernel gave no random seed for shared memory");
    }
    return WEIR_OK;
}

// Whether the sizes in the head are those of the file, and lead to what was laid out by them.
static bool sizes_agree(const weir_memory_head *head, size_t size)
{
    if (size != head->size_bytes || size < LEAST_BYTES || size > MOST_BYTES ||
        weir_memory_check_sizes(size, head->side_bytes, false, true, NULL) != WEIR_OK) {
        return false;
    }
    return head->journal_count == weir_memory_layout_of(size, head->side_bytes, true).journal_count;
}

// Whether the mapping is what the options ask for. Its first bytes are read through the file, so
// that one that is too short is no fault.
static weir_status check_fit(const place *p, const struct stat *info, const weir_shared_options *o,
                             const weir_memory_head *head, weir_error *error)
{
    const size_t size = (size_t)info->st_size;
    if (head->form != FORM) {
        return weir_fail(error, WEIR_MISMATCH,
                         "shared memory \"%s\" was made by another version of weir; remove it, or "
                         "ask for misfit rebuild",
                         p->name);
    }
    if (!sizes_agree(head, size)) {
        return weir_fail(error, WEIR_MISMATCH,
                         "shared memory \"%s\" is %zu bytes long; its head says %" PRIu64
                         ", with %" PRIu64 " of side memory and %" PRIu32 " journals",
                         p->name, size, head->size_bytes, head->side_bytes, head->journal_count);
    }
    if (o->size_bytes != 0 && o->size_bytes != size) {
        return weir_fail(error, WEIR_MISMATCH, "size_bytes was %zu; shared memory \"%s\" has %zu",
                         o->size_bytes, p->name, size);
    }
    const bool other_side = o->no_side ? head->side_bytes != 0
                                       : o->side_bytes != 0 && o->side_bytes != head->side_bytes;
    if (other_side) {
        return weir_fail(error, WEIR_MISMATCH,
                         "side_bytes was %zu; shared memory \"%s\" has %" PRIu64, o->side_bytes,
                         p->name, head->side_bytes);
    }
    if ((o->seed[0] | o->seed[1]) != 0 && memcmp(o->seed, head->seed, sizeof head->seed) != 0) {
        return weir_fail(error, WEIR_MISMATCH, "seed is not that of shared memory \"%s\"", p->name);
    }
    return WEIR_OK;
}

// The mapping of a locked file: the one that is there, or a new one. *out_fresh tells which.
static weir_status find_or_make(place *p, struct stat *info, const weir_shared_options *o,
                                weir_memory_head **out, bool *out_fresh, weir_error *error)
{
    weir_memory_head head = {0};
    const ssize_t got = pread(p->file, &head, sizeof head, 0);
    if (got < 0) {
        return io_fails(p, "read", error);
    }
    *out_fresh = info->st_size == 0 || head.form == UNFINISHED;
    if (*out_fresh && o->existing) {
        return weir_fail(error, WEIR_IO,
                         "shared memory \"%s\" was never finished; it holds nothing", p->name);
    }
    if (*out_fresh) {
        return make(p, o, out, error);
    }
    weir_status status = check_fit(p, info, o, &head, error);
    if (status == WEIR_OK) {
        return map_file(p, (size_t)info->st_size, out, error);
    }
    if (o->misfit != WEIR_MISFIT_REBUILD) {
        return status;
    }
    if (unlink_file(p) != 0) {
        return io_fails(p, "removed", error);
    }
    flock(p->file, LOCK_UN);
    close(p->file);
    status = open_locked(p, o, info, error);
    return status == WEIR_OK ? find_or_make(p, info, o, out, out_fresh, error) : status;
}

weir_status weir_shared_open(weir_store **out, const weir_shared_options *options,
                             weir_error *error)
{
    const weir_shared_options defaults = {0};
    const weir_shared_options *o = options != NULL ? options : &defaults;
    *out = NULL;
    place p;
    weir_status status = read_place(&p, o->name, o->path, error);
    if (status == WEIR_OK) {
        status = check_options(o, error);
    }
    if (status != WEIR_OK) {
        return status;
    }
    memory_store *m = malloc(sizeof *m);
    if (m == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "a shared store could not be had");
    }
    struct stat info;
    weir_memory_head *head;
    bool fresh;
    status = open_locked(&p, o, &info, error);
    if (status == WEIR_OK) {
        status = find_or_make(&p, &info, o, &head, &fresh, error);
    }
    if (status == WEIR_OK) {
        const weir_memory_layout layout =
            weir_memory_layout_of(head->size_bytes, head->side_bytes, true);
        weir_memory_attach(m, &weir_shared_kind, head, &layout, fresh);
        m->clock = o->clock;
        __atomic_store_n(&head->form, FORM, __ATOMIC_RELEASE);
        *out = &m->store;
    } else {
        free(m);
    }
    if (p.file >= 0) {
        flock(p.file, LOCK_UN); // closing is not enough: the mapping keeps the file open
        close(p.file);
    }
    return status;
}

weir_status weir_shared_remove(const char *name, const char *path, weir_error *error)
{
    place p;
    const weir_status status = read_place(&p, name, path, error);
    if (status != WEIR_OK) {
        return status;
    }
    if (p.name[0] == '\0') {
        return weir_fail(error, WEIR_INVALID, "name and path are missing; give one");
    }
    return unlink_file(&p) == 0 || errno == ENOENT ? WEIR_OK : io_fails(&p, "removed", error);
}
