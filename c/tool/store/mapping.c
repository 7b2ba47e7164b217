// mapping: tells names from paths, and leaves alone what is no mapping of weir.

#include "store/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/memory.h>
#include <weir/shared.h>

#define NAME_MAX_BYTES 256
#define FORM_OF_WEIR   UINT32_C(0x77656972) // the upper half of the first word of every version

bool mapping_of_url(const char *url, mapping *out)
{
    *out = (mapping){0};
    if (strncmp(url, "shm:", 4) == 0) {
        out->name = url + 4;
    } else if (strncmp(url, "file:", 5) == 0) {
        out->path = url + 5;
    }
    return out->name || out->path;
}

mapping mapping_of_word(const char *word)
{
    mapping m;
    struct stat info;
    if (mapping_of_url(word, &m)) {
        return m;
    }
    const bool deep = word[0] != '\0' && strchr(word + 1, '/') != NULL;
    if (deep || (stat(word, &info) == 0 && S_ISREG(info.st_mode))) {
        return (mapping){.path = word};
    }
    return (mapping){.name = word};
}

weir_status mapping_open(const mapping *m, weir_store **out, weir_error *error)
{
    const weir_shared_options options = {.name = m->name, .path = m->path, .existing = true};
    return weir_shared_open(out, &options, error);
}

bool mapping_is(weir_store *store)
{
    weir_counters counters; // which only stores in memory have
    return weir_memory_counters(store, &counters) == WEIR_OK;
}

static int open_to_read(const mapping *m)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
    if (m->path) {
        return open(m->path, flags | O_NOFOLLOW);
    }
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s%s", m->name[0] == '/' ? "" : "/", m->name);
    return shm_open(name, flags, 0);
}

// Whether weir wrote it, or nobody anything.
static bool is_ours(int file)
{
    uint64_t form = 0;
    const ssize_t got = read(file, &form, sizeof form);
    return got == 0 || (got == sizeof form && form >> 32 == FORM_OF_WEIR);
}

weir_status mapping_remove(const mapping *m, bool *out_found, weir_error *error)
{
    const int file = open_to_read(m);
    *out_found = file >= 0 || errno != ENOENT;
    if (file >= 0) {
        const bool ours = is_ours(file);
        close(file);
        if (!ours) {
            snprintf(error->message, sizeof error->message,
                     "\"%.256s\" is no mapping of weir, so it was left alone",
                     m->path ? m->path : m->name);
            return error->status = WEIR_INVALID;
        }
    }
    return weir_shared_remove(m->name, m->path, error);
}
