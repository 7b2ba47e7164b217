// Defaults, then the URL, then the options: each is checked where it comes in.

#include "store/redis/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static weir_status copy(char *out, size_t out_size, const char *text, const char *field,
                        weir_error *error)
{
    if (text == NULL) {
        return WEIR_OK;
    }
    if (strnlen(text, out_size) == out_size) {
        return weir_fail(error, WEIR_INVALID, "%s was longer than %zu bytes, the most there is",
                         field, out_size - 1);
    }
    strcpy(out, text);
    return WEIR_OK;
}

// CLIENT SETNAME takes no blanks and no control characters.
static weir_status check_name(const char *name, weir_error *error)
{
    for (const char *c = name; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~') {
            return weir_fail(error, WEIR_INVALID,
                             "name was \"%s\"; it must be printable ASCII without blanks", name);
        }
    }
    return WEIR_OK;
}

static weir_status check(const weir_settings *s, weir_error *error)
{
    if (s->user[0] != '\0' && s->password[0] == '\0') {
        return weir_fail(error, WEIR_INVALID, "user was \"%s\" without a password", s->user);
    }
    if (s->deadline_us < 1 || s->deadline_us > WEIR_HOUR) {
        return weir_fail(error, WEIR_INVALID,
                         "deadline was %" PRId64 " us; it must be from 1 us to an hour",
                         s->deadline_us);
    }
    if (s->connections < 1 || s->connections > 1024) {
        return weir_fail(error, WEIR_INVALID, "connections was %zu; it must be from 1 to 1024",
                         s->connections);
    }
    if ((unsigned)s->on_error > WEIR_ON_ERROR_ALLOW) {
        return weir_fail(error, WEIR_INVALID,
                         "on_error was %d; it must be one of the weir_on_error codes, 0 to 2",
                         (int)s->on_error);
    }
    if (s->cluster && s->db != 0) {
        return weir_fail(error, WEIR_INVALID, "db was %d; a cluster has only db 0", s->db);
    }
    return check_name(s->name, error);
}

static weir_status apply(weir_settings *s, const weir_redis_options *o, weir_error *error)
{
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    weir_status status = o->url != NULL ? weir_url_parse(s, o->url, error) : WEIR_OK;
    if (status == WEIR_OK) {
        status = copy(s->user, sizeof s->user, o->user, "user", error);
    }
    if (status == WEIR_OK) {
        status = copy(s->password, sizeof s->password, o->password, "password", error);
    }
    if (status == WEIR_OK) {
        status = copy(s->name, sizeof s->name, o->name, "name", error);
    }
    s->deadline_us = o->deadline_us != 0 ? o->deadline_us : s->deadline_us;
    s->connections = o->connections != 0 ? o->connections : s->connections;
    s->on_error = o->on_error != WEIR_ON_ERROR_FAIL ? o->on_error : s->on_error;
    s->cluster |= o->cluster;
    return status;
}

weir_status weir_settings_init(weir_settings *settings, const weir_redis_options *options,
                               weir_error *error)
{
    weir_settings *s = settings;
    *s = (weir_settings){
        .host = "127.0.0.1",
        .port = 6379,
        .name = "weir",
        .deadline_us = 250 * WEIR_MILLISECOND,
        .connections = 8,
    };
    weir_status status = options != NULL ? apply(s, options, error) : WEIR_OK;
    if (status == WEIR_OK) {
        status = check(s, error);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (s->path[0] != '\0') {
        snprintf(s->address, sizeof s->address, "%s", s->path);
    } else {
        const bool colons = strchr(s->host, ':') != NULL;
        snprintf(s->address, sizeof s->address, colons ? "[%s]:%d" : "%s:%d", s->host, s->port);
    }
    return WEIR_OK;
}
