// Keys that keep apart what the caller keeps apart, and stay short.
//
// Parts are joined by colons. A byte that could be taken for a colon, a brace, a percent sign or no
// text at all is written %XX, so the parts can be told from the whole. A long part becomes %# and
// its digest, which no escaped text begins with.

#include "weir/key.h"

#include <string.h>

#include "store/sha256.h"
#include "store/tag.h"

#define PART_LONG 128

_Static_assert(sizeof "weir1:{}:::" + 2 * PART_LONG * 3 + WEIR_NAME_MAX * 3 + 16 <= WEIR_KEY_ROOM,
               "every key fits");

// Printable ASCII but blank % : { } and DEL stands for itself.
static const unsigned char plain[256] = {
    ['!'] = 1, ['"'] = 1, ['#'] = 1, ['$'] = 1, ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1,
    ['*'] = 1, ['+'] = 1, [','] = 1, ['-'] = 1, ['.'] = 1, ['/'] = 1,  ['0'] = 1, ['1'] = 1,
    ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,  ['8'] = 1, ['9'] = 1,
    [';'] = 1, ['<'] = 1, ['='] = 1, ['>'] = 1, ['?'] = 1, ['@'] = 1,  ['A'] = 1, ['B'] = 1,
    ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1,  ['I'] = 1, ['J'] = 1,
    ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,  ['Q'] = 1, ['R'] = 1,
    ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1,  ['Y'] = 1, ['Z'] = 1,
    ['['] = 1, [']'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['\\'] = 1, ['a'] = 1, ['b'] = 1,
    ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,  ['i'] = 1, ['j'] = 1,
    ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,  ['q'] = 1, ['r'] = 1,
    ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,  ['y'] = 1, ['z'] = 1,
    ['|'] = 1, ['~'] = 1,
};

static char *put_digest(char *at, const void *data, size_t size)
{
    *at++ = '%';
    *at++ = '#';
    weir_sha256_hex(data, size, at);
    return at + 64;
}

static char *put_part(char *at, const void *data, size_t size)
{
    if (size > PART_LONG) {
        return put_digest(at, data, size);
    }
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        if (plain[bytes[i]]) {
            *at++ = (char)bytes[i];
        } else {
            *at++ = '%';
            *at++ = "0123456789ABCDEF"[bytes[i] >> 4];
            *at++ = "0123456789ABCDEF"[bytes[i] & 15];
        }
    }
    return at;
}

static char *put_text(char *at, const char *text)
{
    const size_t size = strlen(text);
    memcpy(at, text, size);
    return at + size;
}

size_t weir_check_key(const weir_check *check, char out[WEIR_KEY_ROOM])
{
    size_t tag_size;
    const void *tag = weir_tag_of(check, &tag_size);
    char *at = put_text(out, "weir1:{");
    at = put_part(at, tag, tag_size);
    at = put_text(at, "}:");
    at = put_part(at, check->key, check->key_size);
    *at++ = ':';
    at = put_part(at, check->limit->name, strlen(check->limit->name));
    *at++ = ':';
    at = put_text(at, weir_algorithm_name(check->limit->algorithm));
    *at = '\0';
    return (size_t)(at - out);
}

size_t weir_check_id(const weir_check *check, char out[WEIR_ID_ROOM])
{
    const char *id = check->id;
    const size_t size = id != NULL ? check->id_size : 0;
    if (size > WEIR_ID_ROOM || (size >= 2 && id[0] == '%' && id[1] == '#')) {
        return (size_t)(put_digest(out, id, size) - out);
    }
    if (size > 0) {
        memcpy(out, id, size);
    }
    return size;
}
