// One list of the errors that servers answer with.
//
// `again` is only for those that a server gives before it has run anything. A script that writes is
// refused at its first write by READONLY, MISCONF and OOM, and all scripts of weir write in one go
// at their end, so these prove it as well; the last two wait for a person, and are not tried again.

#include "store/redis/refusal.h"

#include <string.h>

static const weir_refusal no_script = {"NOSCRIPT", WEIR_NOT_EXECUTED, true, false,
                                       "the server would not keep the script"};

#define LACKS_RIGHT "the user lacks a right; see its ACL"
static const weir_refusal no_right = {"ERR", WEIR_NOT_PERMITTED, false, false, LACKS_RIGHT};

static const weir_refusal refusals[] = {
    {"LOADING", WEIR_LOADING, true, false, "the server is still loading its data"},
    {"BUSY", WEIR_BUSY, true, false, "the server is busy with a script of somebody else"},
    {"READONLY", WEIR_READONLY, true, true,
     "the server is a replica; the address must be that of the primary"},
    {"MASTERDOWN", WEIR_NOT_EXECUTED, true, true, "the server is a replica that lost its primary"},
    {"CLUSTERDOWN", WEIR_NOT_EXECUTED, true, false, "the cluster is down"},
    {"TRYAGAIN", WEIR_NOT_EXECUTED, true, false, "the cluster is moving the keys"},
    {"ERR max number of clients reached", WEIR_NOT_EXECUTED, true, true,
     "the server has as many clients as it takes; raise maxclients"},
    {"NOREPLICAS", WEIR_NOT_EXECUTED, true, false, "the server has fewer replicas than it wants"},
    {"MISCONF", WEIR_NOT_EXECUTED, false, false,
     "the server can't save to disk and takes no writes until it can"},
    {"OOM", WEIR_SERVER_FULL, false, false, "the server has no memory left; raise maxmemory"},
    {"WRONGPASS", WEIR_WRONG_PASSWORD, false, true, "the server knows no such user and password"},
    {"NOAUTH", WEIR_WRONG_PASSWORD, false, true, "the server wants a password, and none was given"},
    {"ERR invalid password", WEIR_WRONG_PASSWORD, false, true, "the server has another password"},
    {"ERR AUTH", WEIR_WRONG_PASSWORD, false, true, "the server has no password, and one was given"},
    {"ERR Client sent AUTH", WEIR_WRONG_PASSWORD, false, true,
     "the server has no password, and one was given"},
    {"ERR DB index is out of range", WEIR_WRONG_DB, false, true,
     "the server has no database of that number"},
    {"ERR invalid DB index", WEIR_WRONG_DB, false, true,
     "the server has no database of that number"},
    {"ERR SELECT is not allowed", WEIR_WRONG_DB, false, true, "a cluster has only database 0"},
    {"NOPERM", WEIR_NOT_PERMITTED, false, false, LACKS_RIGHT},
    {"ERR unknown command", WEIR_NOT_PERMITTED, false, false, "the server lacks that command"},
    {"MOVED", WEIR_WRONG_NODE, false, false, "the key lives on another node of the cluster"},
    {"ASK", WEIR_WRONG_NODE, false, false, "the key is moving to another node of the cluster"},
    {"CROSSSLOT", WEIR_CROSS_SLOT, false, false,
     "the keys live in different slots of the cluster; give the checks one tag"},
    {"WEIR_STATE", WEIR_STATE, false, false,
     "the key holds what this algorithm did not write; reset it or give the limit another name"},
    {"WRONGTYPE", WEIR_STATE, false, false,
     "the key holds what this algorithm did not write; reset it or give the limit another name"},
    {"WEIR_INVALID", WEIR_INVALID, false, false, "the script does not take these values"},
    {"ERR Protocol error", WEIR_PROTOCOL, false, true, "the server did not understand the bytes"},
    {"ERR", WEIR_PROTOCOL, false, false, "the script failed; whether it has counted is not known"},
};

static const weir_refusal unknown = {"", WEIR_PROTOCOL, false, true,
                                     "the server answered with an error that weir does not know"};

// A code is a whole word; what begins with ERR is known by its first words.
static bool begins(const char *text, const char *code)
{
    const size_t size = strlen(code);
    return strncmp(text, code, size) == 0 &&
           (text[size] == '\0' || text[size] == ' ' || strncmp(code, "ERR ", 4) == 0);
}

// In "ERR Error running script (call to f_...): @user_script:5: -READONLY You can't ..." the error
// that counts comes after the last colon with a dash.
static const char *unwrap(const char *text)
{
    static const char wrapper[] = "ERR Error running script";
    const char *inner = NULL;
    if (strncmp(text, wrapper, sizeof wrapper - 1) == 0) {
        for (const char *at = strstr(text, ": -"); at != NULL; at = strstr(at + 1, ": -")) {
            inner = at + 3;
        }
    }
    return inner != NULL ? inner : text;
}

// A right that a script lacks has no code of its own: Redis 7.2 and Valkey, before them 7.0, and
// 6.2 in its wrapper say it in these words.
static bool lacks_right(const char *text)
{
    return strncmp(text, "ERR ", 4) == 0 &&
           (strstr(text, "ACL failure in script") != NULL ||
            strstr(text, "The user executing the script can't") != NULL);
}

const weir_refusal *weir_refusal_of(const char *text)
{
    text = unwrap(text);
    if (begins(text, no_script.code)) {
        return &no_script;
    }
    if (lacks_right(text)) {
        return &no_right;
    }
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (begins(text, refusals[i].code)) {
            return &refusals[i];
        }
    }
    return &unknown;
}

bool weir_refusal_is_no_script(const weir_refusal *refusal)
{
    return refusal == &no_script;
}
