// info: what the server says of itself.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/audit.h"
#include "store/redis/ask.h"

#define VALUE_TEXT 64

// The value of "name:value" on a line of its own; empty when there is none.
static const char *value_of(const char *info, const char *name, char out[VALUE_TEXT])
{
    size_t size = strlen(name);
    out[0] = '\0';
    for (const char *at = info; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, size) == 0 && at[size] == ':') {
            snprintf(out, VALUE_TEXT, "%.*s", (int)strcspn(at + size + 1, "\r\n"), at + size + 1);
            break;
        }
    }
    return out;
}

static uint64_t number_of(const char *info, const char *name)
{
    char text[VALUE_TEXT];
    return strtoull(value_of(info, name, text), NULL, 10);
}

static void audit_version(const char *info, findings *all)
{
    char redis[VALUE_TEXT], valkey[VALUE_TEXT];
    value_of(info, "valkey_version", valkey);
    value_of(info, "redis_version", redis);
    unsigned major = 0, minor = 0;
    if (valkey[0]) {
        findings_add(all, FINDING_FINE, "version", NULL, "Valkey %s", valkey);
    } else if (sscanf(redis, "%u.%u", &major, &minor) < 1) {
        findings_add(all, FINDING_NOTE, "version",
                     "see that it is Redis 6.2 or Valkey 7.2, or later",
                     "the server does not say its version");
    } else if (major < 6 || (major == 6 && minor < 2)) {
        findings_add(all, FINDING_MEND, "version", "upgrade to 6.2 or later",
                     "Redis %s is older than any that the scripts are made for", redis);
    } else {
        findings_add(all, FINDING_FINE, "version", NULL, "Redis %s", redis);
    }
    char mode[VALUE_TEXT];
    if (strcmp(value_of(info, "redis_mode", mode), "sentinel") == 0) {
        findings_add(all, FINDING_MEND, "version", "give the address of the primary that it names",
                     "this is a Sentinel, which keeps no data");
    }
}

static void audit_memory(const char *info, findings *all)
{
    char policy[VALUE_TEXT];
    uint64_t most = number_of(info, "maxmemory"), used = number_of(info, "used_memory");
    uint64_t evicted = number_of(info, "evicted_keys");
    value_of(info, "maxmemory_policy", policy);
    bool evicts = strcmp(policy, "noeviction") != 0;
    if (!policy[0]) {
        findings_add(all, FINDING_NOTE, "memory", "see that its maxmemory-policy is noeviction",
                     "the server does not say its maxmemory policy");
    } else if (evicts && most > 0) {
        findings_add(all, FINDING_MEND, "memory",
                     "CONFIG SET maxmemory-policy noeviction, or keep limits on a server of their "
                     "own",
                     "maxmemory-policy is %s: at %" PRIu64
                     " bytes the server forgets keys, and who "
                     "is forgotten starts afresh",
                     policy, most);
    } else if (evicts) {
        findings_add(all, FINDING_NOTE, "memory",
                     "before maxmemory is ever set, CONFIG SET maxmemory-policy noeviction",
                     "maxmemory-policy is %s, which does nothing as long as maxmemory is 0",
                     policy);
    } else if (most > 0 && used / 10 >= most / 11) {
        findings_add(all, FINDING_MEND, "memory", "raise maxmemory, or take other data away",
                     "%" PRIu64 " of %" PRIu64 " bytes are used, and a full server records nothing",
                     used, most);
    } else {
        findings_add(all, FINDING_FINE, "memory", NULL, "maxmemory-policy is noeviction");
    }
    if (evicted > 0 && evicts) {
        findings_add(all, FINDING_NOTE, "memory", NULL,
                     "%" PRIu64 " keys were forgotten for want of memory since it started",
                     evicted);
    }
}

static void audit_role(const char *info, findings *all)
{
    char role[VALUE_TEXT], host[VALUE_TEXT], port[VALUE_TEXT];
    value_of(info, "role", role);
    if (!role[0]) {
        return;
    }
    if (strcmp(role, "master") == 0) {
        findings_add(all, FINDING_FINE, "role", NULL, "it is a primary");
        return;
    }
    value_of(info, "master_host", host);
    value_of(info, "master_port", port);
    findings_add(all, FINDING_MEND, "role", "give the address of the primary",
                 "it is a replica of %s:%s, and takes no writes", host, port);
}

static void audit_cluster(weir_store *store, const char *info, findings *all)
{
    bool asked = weir_redis_settings(store)->cluster;
    if (number_of(info, "cluster_enabled") == 0) {
        if (asked) {
            findings_add(all, FINDING_NOTE, "cluster", "leave cluster=yes out of the URL",
                         "the server is not in cluster mode");
        }
        return;
    }
    if (!asked) {
        findings_add(all, FINDING_MEND, "cluster", "add cluster=yes to the URL",
                     "the server is a node of a cluster: lists of checks must share a tag, and "
                     "without cluster=yes nothing sees to it");
    }
    redisReply *reply;
    weir_error error = {0};
    if (audit_ask(store, "CLUSTER INFO", &reply, &error) != WEIR_OK) {
        findings_add(all, FINDING_NOTE, "cluster", NULL, "its state is not known: %s",
                     error.message);
        return;
    }
    char state[VALUE_TEXT];
    const char *cluster = reply->str ? reply->str : "";
    uint64_t size = number_of(cluster, "cluster_size");
    if (strcmp(value_of(cluster, "cluster_state", state), "ok") != 0) {
        findings_add(all, FINDING_MEND, "cluster", "see to the nodes and slots that it lacks",
                     "the cluster's state is %s", state[0] ? state : "not said");
    } else if (size > 1) {
        findings_add(all, FINDING_MEND, "cluster",
                     "keep limits on a server that holds all slots; this client speaks with one",
                     "%" PRIu64 " nodes share the slots, and keys of the others get no answer here",
                     size);
    } else {
        findings_add(all, FINDING_FINE, "cluster", NULL, "this node holds all slots");
    }
    freeReplyObject(reply);
}

void audit_info(weir_store *store, findings *all)
{
    redisReply *reply;
    weir_error error = {0};
    if (audit_ask(store, "INFO", &reply, &error) != WEIR_OK) {
        findings_add(all, FINDING_NOTE, "version",
                     "ask again as a user with INFO, which knows version, memory and role",
                     "INFO got no answer: %s", error.message);
        return;
    }
    const char *info = reply->str ? reply->str : "";
    audit_version(info, all);
    audit_memory(info, all);
    audit_role(info, all);
    audit_cluster(store, info, all);
    freeReplyObject(reply);
}
