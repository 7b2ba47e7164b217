// Gets calls answered: sends them, sorts the replies, and asks again where that can't count twice.
//
// A call is asked again only when the server itself said that nothing ran, or when its bytes never
// left whole. What left and found no reply is INDETERMINATE, and stays so.

#include "store/redis/call.h"

#include "error.h"
#include "store/redis/backoff.h"
#include "store/redis/refusal.h"

typedef struct run {
    weir_pool *pool;
    const char *address;
    weir_call *calls;
    size_t count;
    int64_t deadline_us;
    weir_error *error;

    weir_connection *connection;
    size_t next;   // the call that the next reply answers
    size_t first;  // the first call that failed; count: none. Its sentence is in error
    bool drop;     // the connection is not to be used again
    bool refused;  // a call goes again after a while; else at once
    bool replaced; // a pooled connection took nothing, and was replaced by another: once
} run;

// The call's end. Only the first sentence is kept: the caller's error holds one.
static void settle(run *r, weir_call *call, weir_status status, const char *sentence,
                   const char *quoted)
{
    const size_t index = (size_t)(call - r->calls);
    call->pending = false;
    call->status = status;
    if (status == WEIR_OK || index > r->first) {
        return;
    }
    r->first = index;
    weir_fail(r->error, status, "redis at %s: %s%s%.200s", r->address, sentence,
              quoted[0] != '\0' ? ". It said: " : "", quoted);
}

// What is still open could not be asked, or not again: then what the server refused it with says
// more.
static void settle_unreached(run *r, weir_status status, const weir_error *why)
{
    for (size_t i = 0; i < r->count; i++) {
        weir_call *call = &r->calls[i];
        if (!call->pending) {
            continue;
        }
        if (status == WEIR_NOT_EXECUTED && call->status != WEIR_OK) {
            settle(r, call, call->status, weir_status_meaning(call->status), "");
            continue;
        }
        call->pending = false;
        call->status = status;
        if (i < r->first) {
            r->first = i;
            weir_fail(r->error, status, "%s", why->message);
        }
    }
}

static void settle_late(run *r)
{
    weir_error why;
    weir_fail(&why, WEIR_NOT_EXECUTED, "redis at %s: the deadline passed before the call was sent",
              r->address);
    settle_unreached(r, WEIR_NOT_EXECUTED, &why);
}

static weir_call *next_pending(run *r)
{
    while (!r->calls[r->next].pending) {
        r->next++;
    }
    return &r->calls[r->next++];
}

static void on_refusal(run *r, weir_call *call, const char *text)
{
    const weir_refusal *refusal = weir_refusal_of(text);
    if (weir_refusal_is_no_script(refusal) && call->unknown < 2) {
        call->unknown++;
        return;
    }
    r->drop |= refusal->drop;
    if (!refusal->again) {
        settle(r, call, refusal->status, refusal->sentence, text);
        return;
    }
    r->refused = true;
    call->status = refusal->status; // what it ends with if there is no time left
}

static void on_reply(void *context, const weir_reply *reply)
{
    run *r = context;
    weir_call *call = next_pending(r);
    call->end = 0; // answered
    if (reply->kind == WEIR_REPLY_ERROR) {
        on_refusal(r, call, reply->text);
    } else if (weir_call_read(call, reply)) {
        settle(r, call, WEIR_OK, "", "");
    } else {
        r->drop = true;
        settle(r, call, WEIR_PROTOCOL, "the reply was not that of the script", "");
    }
}

// The first call that lacks a script brings it; those behind it in the pipeline find it there. Who
// lacks it again, behind a proxy that spreads calls, brings it itself.
static bool brings_body(const run *r, const weir_call *call)
{
    if (call->unknown != 1) {
        return call->unknown > 1;
    }
    for (const weir_call *other = r->calls; other < call; other++) {
        if (other->pending && other->unknown > 0 && other->script == call->script) {
            return false;
        }
    }
    return true;
}

static size_t write_pending(run *r)
{
    weir_buffer *out = &r->connection->out;
    size_t written = 0;
    out->size = 0;
    out->failed = false;
    for (size_t i = 0; i < r->count; i++) {
        weir_call *call = &r->calls[i];
        if (call->pending) {
            weir_call_write(call, brings_body(r, call), out);
            call->end = out->size;
            written++;
        }
    }
    return written;
}

// What becomes of the calls that an exchange left without a reply.
static void on_break(run *r, weir_exchange outcome, size_t sent)
{
    // A pooled connection that takes no bytes was closed after its last call.
    const bool stale = outcome == WEIR_EXCHANGE_CLOSED && r->connection->used && !r->replaced;
    r->drop = true;
    for (size_t i = 0; i < r->count; i++) {
        weir_call *call = &r->calls[i];
        if (!call->pending || call->end == 0) {
            continue;
        }
        if (call->end > sent) {
            if (!stale) {
                settle(r, call, WEIR_NOT_EXECUTED,
                       outcome == WEIR_EXCHANGE_LATE
                           ? "the call could not be sent by the deadline"
                           : "the connection broke before the call was sent",
                       "");
            }
        } else {
            settle(
                r, call, WEIR_INDETERMINATE,
                outcome == WEIR_EXCHANGE_LATE
                    ? "no answer came by the deadline; it was counted once or not at all"
                    : "the connection broke before the answer; it was counted once or not at all",
                "");
        }
    }
    r->replaced |= stale;
}

// A stream that turned out wrong is believed in nothing: its replies may have been another's.
static void on_wrong(run *r)
{
    r->drop = true;
    for (size_t i = 0; i < r->count; i++) {
        weir_call *call = &r->calls[i];
        if (call->pending || call->end == 0) {
            settle(r, call, WEIR_PROTOCOL,
                   "what came back is not a reply; it was counted once or not at all", "");
        }
    }
}

static void exchange(run *r)
{
    const size_t written = write_pending(r);
    if (r->connection->out.failed) {
        weir_error why;
        weir_fail(&why, WEIR_NO_MEMORY, "no memory for the command");
        settle_unreached(r, WEIR_NO_MEMORY, &why);
        return;
    }
    size_t sent;
    r->next = 0;
    const weir_exchange outcome =
        weir_connection_exchange(r->connection, written, on_reply, r, r->deadline_us, &sent);
    if (outcome == WEIR_EXCHANGE_WRONG) {
        on_wrong(r);
    } else if (outcome != WEIR_EXCHANGE_DONE) {
        on_break(r, outcome, sent);
    }
}

static bool any_pending(const run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->calls[i].pending) {
            return true;
        }
    }
    return false;
}

weir_status weir_calls_run(weir_pool *pool, weir_call *calls, size_t count, int64_t deadline_us,
                           weir_error *error)
{
    run r = {.pool = pool,
             .address = pool->settings->address,
             .calls = calls,
             .count = count,
             .deadline_us = deadline_us,
             .error = error,
             .first = count};
    for (size_t i = 0; i < count; i++) {
        calls[i].pending = true;
        calls[i].status = WEIR_OK;
        calls[i].unknown = 0;
    }
    int64_t wait_us = WEIR_BACKOFF_FIRST_US;
    while (any_pending(&r)) {
        if (weir_left_us(deadline_us) == 0) { // what is sent now could only be counted unanswered
            settle_late(&r);
            break;
        }
        bool again;
        weir_error why;
        const weir_status status =
            weir_pool_acquire(pool, deadline_us, &r.connection, &again, &why);
        r.drop = r.refused = false;
        if (status == WEIR_OK) {
            exchange(&r);
            weir_pool_release(pool, r.connection, !r.drop);
        } else if (!again || !weir_backoff(&wait_us, deadline_us)) {
            settle_unreached(&r, status, &why);
        }
        if (r.refused && !weir_backoff(&wait_us, deadline_us)) {
            settle_late(&r);
        }
    }
    return r.first < count ? calls[r.first].status : WEIR_OK;
}
