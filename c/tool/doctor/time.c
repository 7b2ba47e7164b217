// time: how long an answer takes, and how far the server's clock is from this host's.

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <weir/duration.h>

#include "doctor/audit.h"
#include "store/redis/ask.h"
#include "text.h"

#define PINGS          15
#define APART_MOST_US  WEIR_SECOND
#define SHARE_OF_LIMIT 4 // of the deadline, that a round trip may take

static int64_t clock_us(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * WEIR_SECOND + now.tv_nsec / 1000;
}

static int compare(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;
    return (one > two) - (one < two);
}

static void audit_trip(weir_store *store, findings *all)
{
    int64_t trips[PINGS];
    for (size_t i = 0; i < PINGS; i++) {
        redisReply *reply;
        int64_t before = clock_us(CLOCK_MONOTONIC);
        weir_status status = audit_ask(store, "PING", &reply, NULL);
        trips[i] = clock_us(CLOCK_MONOTONIC) - before;
        if (status == WEIR_OK) {
            freeReplyObject(reply);
        } else if (status != WEIR_NOT_PERMITTED) { // which is an answer as well
            findings_add(all, FINDING_MEND, "trip", "look at the network, and raise deadline=",
                         "the server answered only %zu of %d pings", i, PINGS);
            return;
        }
    }
    qsort(trips, PINGS, sizeof *trips, compare);
    char trip[TEXT_SPAN], deadline[TEXT_SPAN];
    int64_t deadline_us = weir_redis_settings(store)->deadline_us;
    text_span(trips[PINGS / 2], trip);
    text_span(deadline_us, deadline);
    if (trips[PINGS / 2] > deadline_us / SHARE_OF_LIMIT) {
        findings_add(all, FINDING_MEND, "trip", "raise deadline= in the URL, or move nearer",
                     "a round trip takes %s, more than a quarter of the deadline, %s", trip,
                     deadline);
    } else {
        findings_add(all, FINDING_FINE, "trip", NULL, "a round trip takes %s, of a deadline of %s",
                     trip, deadline);
    }
}

static void audit_clock(weir_store *store, findings *all)
{
    redisReply *reply;
    weir_error error = {0};
    int64_t before = clock_us(CLOCK_REALTIME);
    if (audit_ask(store, "TIME", &reply, &error) != WEIR_OK) {
        findings_add(all, FINDING_NOTE, "clock", NULL, "its clock is not known: %s", error.message);
        return;
    }
    int64_t after = clock_us(CLOCK_REALTIME), server_us = 0;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2) {
        server_us = strtoll(reply->element[0]->str, NULL, 10) * WEIR_SECOND +
                    strtoll(reply->element[1]->str, NULL, 10);
    }
    freeReplyObject(reply);
    int64_t apart_us = server_us - (before + (after - before) / 2), sure_us = (after - before) / 2;
    char apart[TEXT_SPAN], sure[TEXT_SPAN];
    text_span(llabs(apart_us), apart);
    text_span(sure_us, sure);
    if (llabs(apart_us) > APART_MOST_US + sure_us) {
        findings_add(all, FINDING_MEND, "clock",
                     "have NTP keep both: a replica that takes over, and callers that give their "
                     "own now, go by the clocks",
                     "the server's clock is %s %s this host's", apart,
                     apart_us > 0 ? "ahead of" : "behind");
    } else {
        findings_add(all, FINDING_FINE, "clock", NULL, "the clocks are %s apart, give or take %s",
                     apart, sure);
    }
}

void audit_time(weir_store *store, findings *all)
{
    audit_clock(store, all);
    audit_trip(store, all);
}
