// A URL names the server, and may carry every setting.

#include "store/redis/settings.h"

#include <string.h>

#include "error.h"
#include "weir/duration.h"

typedef struct span {
    const char *at;
    size_t size;
} span;

static span span_to(const char *at, const char *end)
{
    return (span){at, (size_t)(end - at)};
}

static bool is_text(span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Undoes %XX into out, which holds out_size bytes with the NUL.
static weir_status decode(span s, const char *field, char *out, size_t out_size, weir_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < s.size; i++) {
        char c = s.at[i];
        if (c == '%') {
            const int high = i + 2 < s.size ? hex_digit(s.at[i + 1]) : -1;
            const int low = high >= 0 ? hex_digit(s.at[i + 2]) : -1;
            if (low < 0 || (high == 0 && low == 0)) {
                return weir_fail(error, WEIR_INVALID,
                                 "%s of the url has a %% that no two hexadecimal digits follow; a "
                                 "%% itself is written %%25",
                                 field);
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (count + 1 >= out_size) {
            return weir_fail(error, WEIR_INVALID,
                             "%s of the url was longer than %zu bytes, the most there is", field,
                             out_size - 1);
        }
        out[count++] = c;
    }
    out[count] = '\0';
    return WEIR_OK;
}

static weir_status parse_number(span s, const char *field, int least, int most, int *out,
                                weir_error *error)
{
    int value = 0;
    bool good = s.size > 0 && s.size <= 5;
    for (size_t i = 0; i < s.size && good; i++) {
        good = s.at[i] >= '0' && s.at[i] <= '9';
        value = value * 10 + (s.at[i] - '0');
    }
    if (!good || value < least || value > most) {
        return weir_fail(error, WEIR_INVALID, "%s of the url was not a whole number from %d to %d",
                         field, least, most);
    }
    *out = value;
    return WEIR_OK;
}

static weir_status parse_user(weir_settings *settings, span s, weir_error *error)
{
    const char *colon = memchr(s.at, ':', s.size);
    if (colon == NULL) {
        return weir_fail(error, WEIR_INVALID,
                         "url has a user and no password; write user:password@ or :password@");
    }
    const weir_status status =
        decode(span_to(s.at, colon), "user", settings->user, sizeof settings->user, error);
    return status != WEIR_OK ? status
                             : decode(span_to(colon + 1, s.at + s.size), "password",
                                      settings->password, sizeof settings->password, error);
}

static weir_status parse_host(weir_settings *settings, span s, weir_error *error)
{
    const char *end = s.at + s.size;
    const bool bracket = s.size > 0 && s.at[0] == '[';
    const char *host_end = bracket ? memchr(s.at, ']', s.size) : memchr(s.at, ':', s.size);
    if (host_end == NULL) {
        host_end = end;
    }
    if (bracket && host_end == end) {
        return weir_fail(error, WEIR_INVALID, "host of the url has a [ and no ]");
    }
    const span host = bracket ? span_to(s.at + 1, host_end) : span_to(s.at, host_end);
    const char *rest = bracket ? host_end + 1 : host_end;
    if (host.size > 0) {
        const weir_status status =
            decode(host, "host", settings->host, sizeof settings->host, error);
        if (status != WEIR_OK) {
            return status;
        }
    }
    if (rest == end) {
        return WEIR_OK;
    }
    if (*rest != ':') {
        return weir_fail(error, WEIR_INVALID, "host of the url has more than :port after the ]");
    }
    return parse_number(span_to(rest + 1, end), "port", 1, 65535, &settings->port, error);
}

static weir_status parse_deadline(weir_settings *settings, const char *text, weir_error *error)
{
    if (weir_duration_parse(text, "deadline", &settings->deadline_us, NULL) != WEIR_OK) {
        return weir_fail(error, WEIR_INVALID,
                         "deadline of the url was not a duration, such as 250ms");
    }
    return WEIR_OK;
}

static weir_status parse_on_error(weir_settings *settings, span value, weir_error *error)
{
    static const char *const names[] = {
        [WEIR_ON_ERROR_FAIL] = "error",
        [WEIR_ON_ERROR_DENY] = "deny",
        [WEIR_ON_ERROR_ALLOW] = "allow",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_text(value, names[i])) {
            settings->on_error = (weir_on_error)i;
            return WEIR_OK;
        }
    }
    return weir_fail(error, WEIR_INVALID, "on_error of the url must be error, deny or allow");
}

static weir_status parse_cluster(weir_settings *settings, span value, weir_error *error)
{
    if (!is_text(value, "yes") && !is_text(value, "no")) {
        return weir_fail(error, WEIR_INVALID, "cluster of the url must be yes or no");
    }
    settings->cluster = value.at[0] == 'y';
    return WEIR_OK;
}

// One list of the options: the name, and what takes the value.
#define OPTION_LIST(X)                                                                             \
    X("db", parse_number(value, "db", 0, 99999, &settings->db, error))                             \
    X("user", decode(value, "user", settings->user, sizeof settings->user, error))                 \
    X("password", decode(value, "password", settings->password, sizeof settings->password, error)) \
    X("name", decode(value, "name", settings->name, sizeof settings->name, error))                 \
    X("deadline", parse_deadline(settings, text, error))                                           \
    X("connections", parse_number(value, "connections", 1, 1024, &connections, error))             \
    X("on_error", parse_on_error(settings, value, error))                                          \
    X("cluster", parse_cluster(settings, value, error))

static weir_status parse_option(weir_settings *settings, span name, span value, unsigned *seen,
                                weir_error *error)
{
    char text[64]; // the value as a text, for those who want one
    int connections = (int)settings->connections;
    weir_status status = decode(value, "an option", text, sizeof text, NULL);
    if (status != WEIR_OK) {
        text[0] = '\0';
    }
    unsigned bit = 1;
#define OPTION_TRY(known, parse)                                                                   \
    if (is_text(name, known)) {                                                                    \
        if (*seen & bit) {                                                                         \
            return weir_fail(error, WEIR_INVALID, "url has %s twice", known);                      \
        }                                                                                          \
        *seen |= bit;                                                                              \
        status = parse;                                                                            \
        settings->connections = (size_t)connections;                                               \
        return status;                                                                             \
    }                                                                                              \
    bit <<= 1;
    OPTION_LIST(OPTION_TRY)
#undef OPTION_TRY
#define OPTION_NAME(known, parse) " " known
    return weir_fail(error, WEIR_INVALID,
                     "url has an option that is none of those there are:" OPTION_LIST(OPTION_NAME));
#undef OPTION_NAME
}

static weir_status parse_options(weir_settings *settings, const char *at, weir_error *error)
{
    unsigned seen = 0;
    while (*at != '\0') {
        const char *end = at + strcspn(at, "&");
        const char *equals = memchr(at, '=', (size_t)(end - at));
        if (equals == NULL) {
            return weir_fail(error, WEIR_INVALID,
                             "url has an option without a value; write option=value");
        }
        const weir_status status =
            parse_option(settings, span_to(at, equals), span_to(equals + 1, end), &seen, error);
        if (status != WEIR_OK) {
            return status;
        }
        at = *end == '&' ? end + 1 : end;
    }
    return WEIR_OK;
}

weir_status weir_url_parse(weir_settings *settings, const char *url, weir_error *error)
{
    static const char tcp[] = "redis://", local[] = "redis+unix://";
    const bool is_local = strncmp(url, local, sizeof local - 1) == 0;
    if (!is_local && strncmp(url, tcp, sizeof tcp - 1) != 0) {
        return weir_fail(error, WEIR_INVALID, "url must begin with redis:// or redis+unix://%s",
                         strncmp(url, "rediss://", 9) == 0 ? "; TLS is not built in" : "");
    }
    const char *at = url + (is_local ? sizeof local : sizeof tcp) - 1;
    const char *slash = at + strcspn(at, "/?");
    const char *question = slash + strcspn(slash, "?");
    const char *user_end = NULL;
    for (const char *c = at; c < slash; c++) {
        user_end = *c == '@' ? c : user_end;
    }
    weir_status status = WEIR_OK;
    if (user_end != NULL) {
        status = parse_user(settings, span_to(at, user_end), error);
        at = user_end + 1;
    }
    if (status == WEIR_OK && is_local) {
        if (at != slash || question - slash < 2) {
            return weir_fail(error, WEIR_INVALID,
                             "url must have the absolute path of a socket after redis+unix://");
        }
        status =
            decode(span_to(slash, question), "path", settings->path, sizeof settings->path, error);
    } else if (status == WEIR_OK) {
        status = parse_host(settings, span_to(at, slash), error);
        if (status == WEIR_OK && question - slash > 1) {
            status =
                parse_number(span_to(slash + 1, question), "db", 0, 99999, &settings->db, error);
        }
    }
    return status == WEIR_OK && *question == '?' ? parse_options(settings, question + 1, error)
                                                 : status;
}
