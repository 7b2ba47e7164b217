// A policy's source, and its reload: the last good one stays until a new one has proven itself.

#include "weir/policy.h"

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "reload.h"

struct weir_policy {
    pthread_mutex_t lock; // of current
    source *current;
    _Atomic uint64_t generation;
    source_terms terms;
    bool from_file;
    char name[]; // the file
};

// A process that has loaded LuaJIT with global symbols resolves ours to it. Only functions that
// both have are called before this is known.
static weir_status check_lua(weir_error *error)
{
    lua_State *L = luaL_newstate();
    if (L == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for Lua");
    }
    const bool has_attributes = luaL_loadstring(L, "local x <const> = 1 // 1 return x") == LUA_OK;
    bool is_54 = false;
    if (has_attributes) {
        luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
        is_54 = lua_getglobal(L, "_VERSION") == LUA_TSTRING &&
                strcmp(lua_tostring(L, -1), "Lua 5.4") == 0;
    }
    lua_close(L);
    if (is_54) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_POLICY,
                     "the Lua in this process is not Lua 5.4, so no policy can run; where another "
                     "Lua was loaded first, the first load of libweir_policy must be with "
                     "RTLD_DEEPBIND");
}

static size_t or_default(size_t value, size_t fallback)
{
    return value != 0 ? value : fallback;
}

static weir_status fill_terms(source_terms *out, const weir_policy_options *given,
                              weir_error *error)
{
    static const weir_policy_options defaults = {0};
    const weir_policy_options *o = given != NULL ? given : &defaults;
    if (o->instructions < 0) {
        return weir_fail(error, WEIR_INVALID, "instructions was %lld; it must be at least 1",
                         (long long)o->instructions);
    }
    if (o->deadline_us < 0 || o->deadline_us > WEIR_DURATION_MAX) {
        return weir_fail(error, WEIR_INVALID, "deadline_us was %lld; it must be from 1 to 2^45",
                         (long long)o->deadline_us);
    }
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    *out = (source_terms){
        .budget = {.memory_bytes = or_default(o->memory_bytes, (size_t)1 << 20),
                   .instructions = o->instructions != 0 ? o->instructions : 200000,
                   .deadline_us = o->deadline_us != 0 ? o->deadline_us : 50000},
        .field_bytes = or_default(o->field_bytes, 8192),
        .cut_fields = o->cut_fields,
    };
    return WEIR_OK;
}

// Reads at most one byte more than a policy may have, so that a longer one is known.
static weir_status read_file(const char *path, char **out_text, size_t *out_size, weir_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return weir_fail(error, WEIR_IO, "%s: %s", path, strerror(errno));
    }
    weir_status status = WEIR_OK;
    char *text = malloc(SOURCE_TEXT_MAX + 1);
    if (text == NULL) {
        status = weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for the policy");
    } else {
        *out_size = fread(text, 1, SOURCE_TEXT_MAX + 1, file);
        *out_text = text;
        if (ferror(file)) {
            status = weir_fail(error, WEIR_IO, "%s: %s", path, strerror(errno));
            free(text);
        }
    }
    fclose(file);
    return status;
}

static void publish(weir_policy *policy, source *next)
{
    pthread_mutex_lock(&policy->lock);
    source *last = policy->current;
    next->generation = policy->generation + 1;
    policy->current = next;
    policy->generation = next->generation;
    pthread_mutex_unlock(&policy->lock);
    source_drop(last);
}

weir_status weir_policy_reload_text(weir_policy *policy, const char *text, size_t text_size,
                                    weir_error *error)
{
    source *next;
    const weir_status status =
        source_open(&next, policy->name, text, text_size, &policy->terms, error);
    if (status == WEIR_OK) {
        publish(policy, next);
    }
    return status;
}

weir_status weir_policy_reload(weir_policy *policy, weir_error *error)
{
    if (!policy->from_file) {
        return weir_fail(error, WEIR_INVALID,
                         "%s: the policy was opened from text; reload it with text", policy->name);
    }
    char *text = NULL;
    size_t size = 0;
    weir_status status = read_file(policy->name, &text, &size, error);
    if (status == WEIR_OK) {
        status = weir_policy_reload_text(policy, text, size, error);
        free(text);
    }
    return status;
}

static weir_status allocate(weir_policy **out, const char *name, const weir_policy_options *options,
                            weir_error *error)
{
    source_terms terms;
    weir_status status = fill_terms(&terms, options, error);
    if (status == WEIR_OK) {
        status = check_lua(error);
    }
    if (status != WEIR_OK) {
        return status;
    }
    const size_t size = strlen(name) + 1;
    weir_policy *policy = calloc(1, sizeof *policy + size);
    if (policy == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for the policy");
    }
    memcpy(policy->name, name, size);
    policy->terms = terms;
    pthread_mutex_init(&policy->lock, NULL);
    *out = policy;
    return WEIR_OK;
}

weir_status weir_policy_open(weir_policy **out, const char *path,
                             const weir_policy_options *options, weir_error *error)
{
    weir_policy *policy = NULL;
    weir_status status = allocate(&policy, path, options, error);
    if (status != WEIR_OK) {
        return status;
    }
    policy->from_file = true;
    status = weir_policy_reload(policy, error);
    if (status != WEIR_OK) {
        weir_policy_close(policy);
        return status;
    }
    *out = policy;
    return WEIR_OK;
}

weir_status weir_policy_open_text(weir_policy **out, const char *name, const char *text,
                                  size_t text_size, const weir_policy_options *options,
                                  weir_error *error)
{
    weir_policy *policy = NULL;
    weir_status status = allocate(&policy, name, options, error);
    if (status != WEIR_OK) {
        return status;
    }
    status = weir_policy_reload_text(policy, text, text_size, error);
    if (status != WEIR_OK) {
        weir_policy_close(policy);
        return status;
    }
    *out = policy;
    return WEIR_OK;
}

void weir_policy_close(weir_policy *policy)
{
    if (policy == NULL) {
        return;
    }
    source_drop(policy->current);
    pthread_mutex_destroy(&policy->lock);
    free(policy);
}

size_t weir_policy_limits(const weir_policy *policy, const weir_limit *const **out_limits,
                          const bool **out_shadow)
{
    const source *s = policy->current;
    if (out_limits != NULL) {
        *out_limits = (const weir_limit *const *)s->limits;
    }
    if (out_shadow != NULL) {
        *out_shadow = s->shadow;
    }
    return s->limit_count;
}

bool weir_policy_has_response(const weir_policy *policy)
{
    return policy->current->has_response;
}

uint64_t policy_generation(const weir_policy *policy)
{
    // The source itself is read under the lock; a runner that sees the number late uses the last
    // policy for one call more.
    return atomic_load_explicit(&policy->generation, memory_order_relaxed);
}

source *policy_source(weir_policy *policy)
{
    pthread_mutex_lock(&policy->lock);
    source *s = source_keep(policy->current);
    pthread_mutex_unlock(&policy->lock);
    return s;
}
