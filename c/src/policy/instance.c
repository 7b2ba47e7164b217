// Opening the state of a policy, and calling its functions.

#include "instance.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "handle.h"
#include "host.h"
#include "limit_object.h"
#include "request.h"
#include "sandbox.h"
#include "vocabulary.h"

// How much source the compiler gets between two looks at the clock.
enum { PIECE = 128, TEXT_FIRST = 1024 };

// What instance_load needs while it runs protected.
typedef struct loading {
    const char *text;
    size_t size;
} loading;

static const char *read_piece(lua_State *L, void *context, size_t *out_size)
{
    loading *from = context;
    budget_watch(L);
    const char *piece = from->text;
    *out_size = from->size < PIECE ? from->size : PIECE;
    from->text += *out_size;
    from->size -= *out_size;
    return piece;
}

static int write_code(lua_State *L, const void *bytes, size_t size, void *context)
{
    (void)L;
    source *s = context;
    char *grown = realloc(s->code, s->code_size + size);
    if (grown == NULL) {
        return 1;
    }
    s->code = grown;
    memcpy(s->code + s->code_size, bytes, size);
    s->code_size += size;
    return 0;
}

// Hands on what lua_load or lua_pcall answered. A lack of memory must not look like an error that
// the policy made.
static void check_loaded(lua_State *L, int result)
{
    if (result == LUA_ERRMEM) {
        budget_raise_refusal(L);
    }
    if (result != LUA_OK) {
        lua_error(L);
    }
}

static void load_vocabulary_file(lua_State *L, const vocabulary_file *file)
{
    check_loaded(L, luaL_loadbufferx(L, file->text, file->size, "=weir", "t"));
    lua_call(L, 0, 1);
}

static void load_vocabulary(lua_State *L)
{
    load_vocabulary_file(L, &vocabulary_address);
    sandbox_provide(L, vocabulary_address.name);
    load_vocabulary_file(L, &vocabulary_words);
    host_push(L);
    lua_call(L, 1, 1);
    sandbox_protect(L, "the module weir");
    sandbox_provide(L, vocabulary_words.name);
}

// Leaves the policy's chunk on the stack.
static void load_chunk(lua_State *L, source *s, loading *from)
{
    if (s->code != NULL) {
        check_loaded(L, luaL_loadbufferx(L, s->code, s->code_size, s->chunk_name, "b"));
        return;
    }
    check_loaded(L, lua_load(L, read_piece, from, s->chunk_name, "t"));
}

// The function of that name in the table on top, or nil.
static bool push_function(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    if (!lua_isfunction(L, -1) && !lua_isnil(L, -1)) {
        luaL_error(L, "'%s' is a %s; it must be a function", name, luaL_typename(L, -1));
    }
    return !lua_isnil(L, -1);
}

// From what the chunk returned, leaves the function of the request and that of the response, or
// nil.
static void take_functions(lua_State *L, source *s)
{
    if (lua_isfunction(L, -1)) {
        lua_pushnil(L);
        return;
    }
    if (!lua_istable(L, -1)) {
        luaL_error(L,
                   "the policy returned %s; it must return a function of the request, or a table "
                   "{ request = f, response = f }",
                   lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1));
    }
    if (!push_function(L, "request")) {
        luaL_error(L, "the policy returned a table without 'request'; it must be a function");
    }
    lua_insert(L, -2);
    const bool has_response = push_function(L, "response");
    if (s->code == NULL) { // the first to load it; later the source is shared
        s->has_response = has_response;
    }
    lua_remove(L, -2);
}

// Runs protected: context and source in, the two functions out.
static int load(lua_State *L)
{
    loading *from = lua_touserdata(L, 1);
    source *s = instance_of(L)->source;
    lua_settop(L, 0);
    sandbox_open(L);
    request_open(L);
    limit_object_open(L);
    load_vocabulary(L);
    load_chunk(L, s, from);
    lua_pushvalue(L, -1); // to be written out once it has run
    lua_call(L, 0, 1);
    take_functions(L, s);
    if (s->code == NULL) {
        lua_pushvalue(L, 1);
        if (lua_dump(L, write_code, s, 0) != 0) {
            budget_raise(L, BREACH_SYSTEM);
        }
        lua_pop(L, 1);
    }
    return INSTANCE_BASE;
}

// The sentence of an error that is not a breach. Without a line of the policy it gets the file.
static weir_status fail_with_message(const instance *in, weir_error *error)
{
    const char *title = in->source->title;
    const size_t size = strlen(title);
    const weir_status status = in->peek_status != WEIR_OK ? in->peek_status : WEIR_POLICY;
    if (lua_type(in->L, -1) != LUA_TSTRING) {
        return weir_fail(error, status, "%s: the policy raised an error that is a %s", title,
                         luaL_typename(in->L, -1));
    }
    const char *message = lua_tostring(in->L, -1);
    if (strncmp(message, title, size) == 0 && message[size] == ':') {
        return weir_fail(error, status, "%s", message);
    }
    return weir_fail(error, status, "%s: %s", title, message);
}

static weir_status fail(instance *in, int result, weir_error *error)
{
    budget *b = &in->budget;
    if (result == LUA_ERRMEM && b->breach == BREACH_NONE) {
        b->breach = b->refusal;
    }
    if (b->breach != BREACH_NONE) {
        in->dead = true;
        return budget_fail(b, in->source->title, error);
    }
    return fail_with_message(in, error);
}

// Calls what lies on the stack with the host's locale put aside.
static int call_protected(instance *in, int arguments, int results, bool keep_clock)
{
    locale_t host = uselocale(in->locale);
    budget_begin(&in->budget, keep_clock);
    const int result = lua_pcall(in->L, arguments, results, 0);
    budget_end(&in->budget);
    uselocale(host);
    return result;
}

static weir_status open_state(instance *in, weir_error *error)
{
    in->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (in->locale == (locale_t)0) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for a locale");
    }
    budget_init(&in->budget, &in->source->terms.budget);
    in->L = lua_newstate(budget_allocate, &in->budget);
    if (in->L == NULL) {
        in->budget.breach = in->budget.refusal;
        return budget_fail(&in->budget, in->source->title, error);
    }
    in->budget.L = in->L;
    *(budget **)lua_getextraspace(in->L) = &in->budget;
    return WEIR_OK;
}

weir_status instance_open(instance **out, source *s, const char *text, size_t text_size,
                          weir_error *error)
{
    instance *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for the policy");
    }
    in->source = source_keep(s);
    weir_status status = open_state(in, error);
    if (status == WEIR_OK) {
        loading from = {text, text_size};
        lua_pushcfunction(in->L, load);
        lua_pushlightuserdata(in->L, &from);
        const int result = call_protected(in, 1, INSTANCE_BASE, false);
        status = result == LUA_OK ? WEIR_OK : fail(in, result, error);
    }
    if (status != WEIR_OK) {
        instance_close(in);
        return status;
    }
    *out = in;
    return WEIR_OK;
}

void instance_close(instance *in)
{
    if (in == NULL) {
        return;
    }
    if (in->L != NULL) {
        lua_close(in->L);
    }
    if (in->locale != (locale_t)0) {
        freelocale(in->locale);
    }
    source_drop(in->source);
    free(in->text);
    free(in);
}

weir_status instance_call(instance *in, call_phase phase, const call_subject *subject,
                          bool keep_clock, weir_error *error)
{
    in->phase = phase;
    in->call++;
    in->subject = *subject;
    in->now_us = subject->request->time_us;
    in->peek_status = WEIR_OK;
    in->ask_count = 0;
    in->text_used = 0;
    in->has_reason = false;
    lua_pushvalue(in->L, phase == PHASE_REQUEST ? 1 : 2);
    lua_pushlightuserdata(in->L, handle_make(in->call, HANDLE_REQUEST));
    lua_pushlightuserdata(in->L, handle_make(in->call, HANDLE_RESPONSE));
    if (phase == PHASE_REQUEST) {
        lua_pop(in->L, 1);
    }
    const int result = call_protected(in, phase == PHASE_REQUEST ? 1 : 2, LUA_MULTRET, keep_clock);
    if (result != LUA_OK) {
        const weir_status status = fail(in, result, error);
        instance_finish(in);
        return status;
    }
    return WEIR_OK;
}

void instance_finish(instance *in)
{
    lua_settop(in->L, INSTANCE_BASE);
}

static int64_t unix_time_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t instance_now_us(instance *in)
{
    if (in->now_us == 0) {
        weir_store *store = in->subject.store;
        in->now_us = store != NULL ? weir_store_now_us(store) : unix_time_us();
    }
    return in->now_us;
}

size_t instance_keep(instance *in, const void *bytes, size_t size)
{
    if (size > in->text_size - in->text_used) {
        if (size > INSTANCE_TEXT_MAX - in->text_used) {
            luaL_error(in->L, "the keys of one call have more than %d bytes",
                       (int)INSTANCE_TEXT_MAX);
        }
        size_t room = in->text_size == 0 ? TEXT_FIRST : in->text_size;
        while (room - in->text_used < size) {
            room *= 2;
        }
        char *grown = realloc(in->text, room);
        if (grown == NULL) {
            budget_raise(in->L, BREACH_SYSTEM);
        }
        in->text = grown;
        in->text_size = room;
    }
    const size_t at = in->text_used;
    memcpy(in->text + at, bytes, size);
    in->text_used += size;
    return at;
}

weir_check instance_check(const instance *in, const ask *asked)
{
    return (weir_check){
        .limit = in->source->limits[asked->limit],
        .key = in->text + asked->key,
        .key_size = asked->key_size,
        .cost = asked->cost,
        .id = asked->id_size > 0 ? in->text + asked->id : NULL,
        .id_size = asked->id_size,
    };
}
