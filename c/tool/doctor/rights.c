// rights: first what the access list says of each command, then what happens when it is tried.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "doctor/audit.h"
#include "weir_scripts.h"

#define WORDS_MAX 4
#define KEY       "weir1:{doctor}" // for the access list only; nothing is kept there

typedef struct lacking {
    char names[300];
} lacking;

static void add_name(lacking *l, const char *name, size_t size)
{
    size_t used = strlen(l->names);
    snprintf(l->names + used, sizeof l->names - used, "%s%.*s", used ? ", " : "", (int)size, name);
}

// Whether ACL DRYRUN lets the user run the command. A command that wants more words gets them: a
// key, then numbers. False in *known: the server does not say.
static bool may_run(weir_store *store, const char *user, const char *command, bool *known)
{
    static const char *const words[WORDS_MAX + 1] = {"", " " KEY, " " KEY " 1", " " KEY " 1 1",
                                                     " " KEY " 1 1 1"};
    for (size_t i = 0; i <= WORDS_MAX; i++) {
        char text[400];
        redisReply *reply;
        weir_error error = {0};
        snprintf(text, sizeof text, "ACL DRYRUN %s %s%s", user, command, words[i]);
        if (audit_ask(store, text, &reply, &error) != WEIR_OK) {
            if (strstr(error.message, "wrong number of arguments")) {
                continue;
            }
            break;
        }
        bool allowed = reply->str && strcmp(reply->str, "OK") == 0;
        freeReplyObject(reply);
        *known = true;
        return allowed;
    }
    *known = false;
    return true;
}

// What `all` runs is what any of them does.
static const char *script_commands(void)
{
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        if (strcmp(weir_scripts[i].name, "all") == 0) {
            return weir_scripts[i].commands;
        }
    }
    return "";
}

static void audit_access_list(weir_store *store, findings *all)
{
    redisReply *reply;
    char user[256] = "default";
    if (audit_ask(store, "ACL WHOAMI", &reply, NULL) == WEIR_OK) {
        snprintf(user, sizeof user, "%s", reply->str ? reply->str : "default");
        freeReplyObject(reply);
    }
    static const char *const calls[] = {"EVALSHA 0 1 " KEY, "EVAL 0 1 " KEY};
    lacking l = {0};
    bool known = true;
    for (size_t i = 0; known && i < sizeof calls / sizeof *calls; i++) {
        if (!may_run(store, user, calls[i], &known)) {
            add_name(&l, calls[i], strcspn(calls[i], " "));
        }
    }
    const char *commands = script_commands();
    for (const char *at = commands; known && *at; at += strspn(at, " ")) {
        char name[32];
        size_t size = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        at += size;
        if (!may_run(store, user, name, &known)) {
            add_name(&l, name, size);
        }
    }
    if (!known) {
        findings_add(all, FINDING_NOTE, "rights", NULL,
                     "the server does not tell this user its rights, so they were only tried");
    } else if (l.names[0]) {
        char advice[300];
        snprintf(advice, sizeof advice, "ACL SETUSER %.60s ~weir1:* and + each of them", user);
        findings_add(all, FINDING_MEND, "rights", advice,
                     "user %s may not run %s on keys that begin with weir1:", user, l.names);
    } else {
        findings_add(all, FINDING_FINE, "rights", NULL, "user %s may run all that scripts need",
                     user);
    }
}

// Takes and forgets. What stood in for the server has not answered.
static weir_status try_one(weir_store *store, const weir_check *checks, size_t count,
                           weir_error *error)
{
    weir_decision d;
    weir_status status = weir_store_take_all(store, checks, count, 0, &d, NULL, error);
    if (status == WEIR_OK && d.source != WEIR_SOURCE_STORE) {
        return error->status;
    }
    for (size_t i = 0; status == WEIR_OK && i < count; i++) {
        status = weir_store_reset(store, &checks[i], error);
    }
    return status;
}

static weir_status try_all(weir_store *store, weir_error *error)
{
    static const weir_limit_options options[] = {
        {.name = "doctor", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_LEAKY_BUCKET, .rate = 1, .period_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_SLIDING_LOG, .limit = 2, .window_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_SLIDING_COUNTER, .limit = 2, .window_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_MIN_GAP, .gap_us = WEIR_SECOND},
        {.name = "doctor", .algorithm = WEIR_CONCURRENCY, .limit = 1, .ttl_us = WEIR_SECOND},
    };
    enum { LIMITS = sizeof options / sizeof *options };
    weir_limit limits[LIMITS];
    weir_check checks[LIMITS];
    char key[32];
    uint64_t chance = 0;
    getrandom(&chance, sizeof chance, 0);
    int size = snprintf(key, sizeof key, "doctor-%016" PRIx64, chance);
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < LIMITS; i++) {
        status = weir_limit_init(&limits[i], &options[i], error);
        checks[i] = (weir_check){.limit = &limits[i],
                                 .key = key,
                                 .key_size = (size_t)size,
                                 .cost = 1,
                                 .id = "doctor",
                                 .id_size = 6};
        status = status == WEIR_OK ? try_one(store, &checks[i], 1, error) : status;
    }
    return status == WEIR_OK ? try_one(store, checks, LIMITS, error) : status;
}

static const char *advice_for(weir_status status)
{
    switch (status) {
    case WEIR_NOT_PERMITTED:
        return "ACL SETUSER: ~weir1:* +evalsha +eval +del and the commands that weir scripts lists";
    case WEIR_SERVER_FULL:
        return "raise maxmemory, or take other data away";
    case WEIR_READONLY:
        return "give the address of the primary";
    case WEIR_WRONG_NODE:
        return "keep limits on a server that holds all slots";
    case WEIR_BUSY:
        return "find whose script runs so long; SCRIPT KILL ends it";
    default:
        return "mend what the sentence says, and ask again";
    }
}

void audit_rights(weir_store *store, findings *all)
{
    audit_access_list(store, all);
    weir_error error = {0};
    weir_status status = try_all(store, &error);
    if (status == WEIR_OK) {
        findings_add(all, FINDING_FINE, "try", NULL, "each kind of limit, and all at once, work");
    } else {
        findings_add(all, FINDING_MEND, "try", advice_for(status), "%s", error.message);
    }
}
