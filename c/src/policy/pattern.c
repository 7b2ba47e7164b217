// Lua's patterns, with every step counted.
//
// A pattern may take time that no formula of its length and the text's foretells: "^%s*(.-)%s*$" on
// an address is cheap, ".-.-.-b" on as much text is not. So the matcher is our own, after that of
// Lua, and charges as it goes. What it accepts and what it answers are Lua's.

#include "budget.h"
#include "sandbox.h"

#include <ctype.h>
#include <lualib.h>
#include <stddef.h>
#include <string.h>

enum {
    CAPTURES_MAX = 32,
    DEPTH_MAX = 150,
    PATTERN_MAX = 128,
    STEPS = 64, // how many are counted before they are charged
    CAPTURE_OPEN = -1,
    CAPTURE_POSITION = -2,
};

typedef struct matcher {
    lua_State *L;
    const char *text, *text_end;
    const char *pattern_end;
    int depth; // calls of match that are still allowed
    int steps; // not yet charged
    int level; // captures, finished or not
    struct {
        const char *start;
        ptrdiff_t size; // or CAPTURE_OPEN, CAPTURE_POSITION
    } captures[CAPTURES_MAX];
} matcher;

static const char *match(matcher *m, const char *s, const char *p);

static void step(matcher *m)
{
    if (++m->steps == STEPS) {
        m->steps = 0;
        budget_charge(m->L, STEPS);
    }
}

// Where the single item at p ends: a letter, an escape or a set.
static const char *item_end(matcher *m, const char *p)
{
    if (p == m->pattern_end) {
        luaL_error(m->L, "malformed pattern (ends with '%%')");
    }
    if (*p == '%') {
        if (p + 1 == m->pattern_end) {
            luaL_error(m->L, "malformed pattern (ends with '%%')");
        }
        return p + 2;
    }
    if (*p++ != '[') {
        return p;
    }
    if (p < m->pattern_end && *p == '^') {
        p++;
    }
    do { // the first ']' is a letter of the set
        if (p == m->pattern_end) {
            luaL_error(m->L, "malformed pattern (missing ']')");
        }
        if (*p++ == '%' && p < m->pattern_end) {
            p++;
        }
    } while (*p != ']'); // a text of Lua ends with a NUL
    return p + 1;
}

static bool in_class(int c, int class)
{
    bool in;
    switch (tolower(class)) {
    case 'a':
        in = isalpha(c);
        break;
    case 'c':
        in = iscntrl(c);
        break;
    case 'd':
        in = isdigit(c);
        break;
    case 'g':
        in = isgraph(c);
        break;
    case 'l':
        in = islower(c);
        break;
    case 'p':
        in = ispunct(c);
        break;
    case 's':
        in = isspace(c);
        break;
    case 'u':
        in = isupper(c);
        break;
    case 'w':
        in = isalnum(c);
        break;
    case 'x':
        in = isxdigit(c);
        break;
    default:
        return class == c;
    }
    return isupper(class) ? !in : in;
}

// p stands on '[' and end behind ']'.
static bool in_set(int c, const char *p, const char *end)
{
    bool in = true;
    const char *last = end - 1;
    if (*++p == '^') {
        in = false;
        p++;
    }
    for (; p < last; p++) {
        if (*p == '%') {
            p++;
            if (in_class(c, (unsigned char)*p)) {
                return in;
            }
        } else if (p[1] == '-' && p + 2 < last) {
            if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2]) {
                return in;
            }
            p += 2;
        } else if ((unsigned char)*p == c) {
            return in;
        }
    }
    return !in;
}

static bool single_match(matcher *m, const char *s, const char *p, const char *end)
{
    step(m);
    if (s >= m->text_end) {
        return false;
    }
    int c = (unsigned char)*s;
    switch (*p) {
    case '.':
        return true;
    case '%':
        return in_class(c, (unsigned char)p[1]);
    case '[':
        return in_set(c, p, end);
    default:
        return (unsigned char)*p == c;
    }
}

static const char *match_balance(matcher *m, const char *s, const char *p)
{
    if (p + 1 >= m->pattern_end) {
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    }
    if (s >= m->text_end || *s != *p) {
        return NULL;
    }
    int open = 1;
    while (++s < m->text_end) {
        step(m);
        if (*s == p[1]) {
            if (--open == 0) {
                return s + 1;
            }
        } else if (*s == *p) {
            open++;
        }
    }
    return NULL;
}

static const char *match_most(matcher *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t count = 0;
    while (single_match(m, s + count, p, end)) {
        count++;
    }
    for (; count >= 0; count--) {
        const char *found = match(m, s + count, end + 1);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static const char *match_least(matcher *m, const char *s, const char *p, const char *end)
{
    for (;;) {
        const char *found = match(m, s, end + 1);
        if (found != NULL) {
            return found;
        }
        if (!single_match(m, s, p, end)) {
            return NULL;
        }
        s++;
    }
}

static const char *open_capture(matcher *m, const char *s, const char *p, ptrdiff_t what)
{
    if (m->level >= CAPTURES_MAX) {
        luaL_error(m->L, "too many captures");
    }
    m->captures[m->level].start = s;
    m->captures[m->level].size = what;
    m->level++;
    const char *found = match(m, s, p);
    if (found == NULL) {
        m->level--;
    }
    return found;
}

static const char *close_capture(matcher *m, const char *s, const char *p)
{
    int level = m->level - 1;
    while (level >= 0 && m->captures[level].size != CAPTURE_OPEN) {
        level--;
    }
    if (level < 0) {
        luaL_error(m->L, "invalid pattern capture");
    }
    m->captures[level].size = s - m->captures[level].start;
    const char *found = match(m, s, p);
    if (found == NULL) {
        m->captures[level].size = CAPTURE_OPEN;
    }
    return found;
}

static const char *match_capture(matcher *m, const char *s, int digit)
{
    int level = digit - '1';
    if (level < 0 || level >= m->level || m->captures[level].size == CAPTURE_OPEN) {
        luaL_error(m->L, "invalid capture index %%%d", level + 1);
    }
    const ptrdiff_t size = m->captures[level].size;
    if (size == CAPTURE_POSITION) {
        return NULL;
    }
    budget_charge(m->L, 1 + size / 64);
    if (m->text_end - s < size || memcmp(m->captures[level].start, s, (size_t)size) != 0) {
        return NULL;
    }
    return s + size;
}

static bool at_frontier(matcher *m, const char *s, const char *p, const char *end)
{
    int before = s == m->text ? '\0' : (unsigned char)s[-1];
    int here = s == m->text_end ? '\0' : (unsigned char)*s;
    return !in_set(before, p, end) && in_set(here, p, end);
}

// Where the text from s that matches the pattern from p ends, or NULL.
static const char *match_items(matcher *m, const char *s, const char *p)
{
    while (p != m->pattern_end) {
        step(m);
        switch (*p) {
        case '(':
            return p + 1 < m->pattern_end && p[1] == ')'
                       ? open_capture(m, s, p + 2, CAPTURE_POSITION)
                       : open_capture(m, s, p + 1, CAPTURE_OPEN);
        case ')':
            return close_capture(m, s, p + 1);
        case '$':
            if (p + 1 == m->pattern_end) {
                return s == m->text_end ? s : NULL;
            }
            break;
        case '%':
            if (p + 1 == m->pattern_end) {
                break;
            }
            if (p[1] == 'b') {
                s = match_balance(m, s, p + 2);
                if (s == NULL) {
                    return NULL;
                }
                p += 4;
                continue;
            }
            if (p[1] == 'f') {
                p += 2;
                if (p == m->pattern_end || *p != '[') {
                    luaL_error(m->L, "missing '[' after '%%f' in pattern");
                }
                const char *end = item_end(m, p);
                if (!at_frontier(m, s, p, end)) {
                    return NULL;
                }
                p = end;
                continue;
            }
            if (isdigit((unsigned char)p[1])) {
                s = match_capture(m, s, (unsigned char)p[1]);
                if (s == NULL) {
                    return NULL;
                }
                p += 2;
                continue;
            }
            break;
        default:
            break;
        }
        const char *end = item_end(m, p);
        char repeat = end < m->pattern_end ? *end : '\0';
        if (repeat == '*') {
            return match_most(m, s, p, end);
        }
        if (repeat == '-') {
            return match_least(m, s, p, end);
        }
        bool one = single_match(m, s, p, end);
        if (repeat == '+') {
            return one ? match_most(m, s + 1, p, end) : NULL;
        }
        if (repeat == '?') {
            if (one) {
                const char *found = match(m, s + 1, end + 1);
                if (found != NULL) {
                    return found;
                }
            }
            p = end + 1;
            continue;
        }
        if (!one) {
            return NULL;
        }
        s++;
        p = end;
    }
    return s;
}

static const char *match(matcher *m, const char *s, const char *p)
{
    if (m->depth-- == 0) {
        luaL_error(m->L, "pattern too complex");
    }
    const char *found = match_items(m, s, p);
    m->depth++;
    return found;
}

static const char *match_at(matcher *m, const char *s, const char *p)
{
    m->level = 0;
    m->depth = DEPTH_MAX;
    return match(m, s, p);
}

static void push_capture(matcher *m, int level, const char *s, const char *end)
{
    if (level >= m->level) {
        if (level != 0) {
            luaL_error(m->L, "invalid capture index %%%d", level + 1);
        }
        lua_pushlstring(m->L, s, (size_t)(end - s));
        return;
    }
    ptrdiff_t size = m->captures[level].size;
    if (size == CAPTURE_OPEN) {
        luaL_error(m->L, "unfinished capture");
    }
    if (size == CAPTURE_POSITION) {
        lua_pushinteger(m->L, m->captures[level].start - m->text + 1);
    } else {
        lua_pushlstring(m->L, m->captures[level].start, (size_t)size);
    }
}

// s NULL: only what is in brackets, not the whole.
static int push_captures(matcher *m, const char *s, const char *end)
{
    int count = m->level == 0 && s != NULL ? 1 : m->level;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) {
        push_capture(m, i, s, end);
    }
    return count;
}

static void begin(matcher *m, lua_State *L, const char **pattern)
{
    size_t text_size, pattern_size;
    *m = (matcher){.L = L};
    m->text = luaL_checklstring(L, 1, &text_size);
    *pattern = luaL_checklstring(L, 2, &pattern_size);
    if (pattern_size > PATTERN_MAX) {
        luaL_error(L, "the pattern has %d bytes; it must be at most %d", (int)pattern_size,
                   PATTERN_MAX);
    }
    m->text_end = m->text + text_size;
    m->pattern_end = *pattern + pattern_size;
    budget_charge(L, 5);
}

// Byte by byte where the first byte fits; the text is not searched for a long one at no cost.
static const char *find_plain(matcher *m, const char *s, const char *p)
{
    size_t size = (size_t)(m->pattern_end - p);
    if (size == 0) {
        return s;
    }
    while ((size_t)(m->text_end - s) >= size) {
        const char *first = memchr(s, *p, (size_t)(m->text_end - s) - size + 1);
        budget_charge(m->L,
                      1 + ((first == NULL ? m->text_end : first) - s) / 64 + (int64_t)(size / 64));
        if (first == NULL || memcmp(first, p, size) == 0) {
            return first;
        }
        s = first + 1;
    }
    return NULL;
}

static bool is_plain(const char *p, const char *end)
{
    while (p < end && (*p == '\0' || strchr("^$*+?.([%-", *p) == NULL)) {
        p++;
    }
    return p == end;
}

static int answer_not_found(lua_State *L)
{
    lua_pushnil(L);
    return 1;
}

static int find_or_match(lua_State *L, bool find)
{
    matcher m;
    const char *p;
    begin(&m, L, &p);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    lua_Integer size = m.text_end - m.text;
    from = from > 0 ? from : from < -size || from == 0 ? 1 : size + from + 1;
    if (from > size + 1) {
        return answer_not_found(L);
    }
    const char *s = m.text + from - 1;
    if (find && (lua_toboolean(L, 4) || is_plain(p, m.pattern_end))) {
        const char *found = find_plain(&m, s, p);
        if (found == NULL) {
            return answer_not_found(L);
        }
        lua_pushinteger(L, found - m.text + 1);
        lua_pushinteger(L, found - m.text + (m.pattern_end - p));
        return 2;
    }
    bool anchored = p < m.pattern_end && *p == '^';
    p += anchored;
    do {
        const char *end = match_at(&m, s, p);
        if (end != NULL) {
            if (!find) {
                return push_captures(&m, s, end);
            }
            lua_pushinteger(L, s - m.text + 1);
            lua_pushinteger(L, end - m.text);
            return push_captures(&m, NULL, NULL) + 2;
        }
    } while (s++ < m.text_end && !anchored);
    return answer_not_found(L);
}

int pattern_find(lua_State *L)
{
    return find_or_match(L, true);
}

int pattern_match(lua_State *L)
{
    return find_or_match(L, false);
}

// The replacement is text: %0 to %9 stand for captures.
static void add_text(matcher *m, luaL_Buffer *made, const char *s, const char *end)
{
    lua_State *L = m->L;
    size_t size;
    const char *text = lua_tolstring(L, 3, &size);
    budget_charge(L, 1 + (int64_t)(size / 16));
    for (const char *at = text; at < text + size; at++) {
        if (*at != '%') {
            luaL_addchar(made, *at);
            continue;
        }
        at++;
        if (at < text + size && *at == '%') {
            luaL_addchar(made, '%');
        } else if (at < text + size && *at == '0') {
            luaL_addlstring(made, s, (size_t)(end - s));
        } else if (at < text + size && isdigit((unsigned char)*at)) {
            push_capture(m, *at - '1', s, end);
            luaL_tolstring(L, -1, NULL);
            lua_remove(L, -2);
            luaL_addvalue(made);
        } else {
            luaL_error(L, "invalid use of '%%' in replacement string");
        }
    }
}

// The replacement comes from a table or a function; false or nil keeps the original.
static void add_value(matcher *m, luaL_Buffer *made, const char *s, const char *end)
{
    lua_State *L = m->L;
    if (lua_type(L, 3) == LUA_TTABLE) {
        push_capture(m, 0, s, end);
        lua_gettable(L, 3);
    } else {
        lua_pushvalue(L, 3);
        int count = push_captures(m, s, end);
        lua_call(L, count, 1);
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(made, s, (size_t)(end - s));
    } else if (lua_isstring(L, -1)) {
        luaL_addvalue(made);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
}

int pattern_gsub(lua_State *L)
{
    matcher m;
    const char *p;
    begin(&m, L, &p);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE ||
                         type == LUA_TFUNCTION,
                     3, "string/function/table");
    lua_Integer most = luaL_optinteger(L, 4, m.text_end - m.text + 1);
    bool anchored = p < m.pattern_end && *p == '^';
    p += anchored;
    const char *s = m.text, *last = NULL;
    lua_Integer count = 0;
    luaL_Buffer made;
    luaL_buffinit(L, &made);
    while (count < most) {
        const char *end = match_at(&m, s, p);
        if (end != NULL && end != last) {
            count++;
            if (type == LUA_TTABLE || type == LUA_TFUNCTION) {
                add_value(&m, &made, s, end);
            } else {
                add_text(&m, &made, s, end);
            }
            s = last = end;
        } else if (s < m.text_end) {
            luaL_addchar(&made, *s);
            s++;
        } else {
            break;
        }
        if (luaL_bufflen(&made) > BUDGET_STRING_MAX) {
            budget_raise(L, BREACH_TEXT);
        }
        if (anchored) {
            break;
        }
    }
    luaL_addlstring(&made, s, (size_t)(m.text_end - s));
    luaL_pushresult(&made);
    lua_pushinteger(L, count);
    return 2;
}
