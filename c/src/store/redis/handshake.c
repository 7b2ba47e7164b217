// AUTH, SELECT and CLIENT SETNAME in one round trip.
//
// No sentence quotes what the server says here: it may repeat the password.

#include "store/redis/handshake.h"

#include "error.h"
#include "store/redis/refusal.h"

typedef enum step { AUTH, SELECT, SETNAME, STEPS } step;

typedef struct handshake {
    step steps[STEPS];
    size_t count;
    size_t answered;
    const weir_refusal *refusal; // the first
    bool odd;                    // a reply that is none to these commands
} handshake;

static void write_commands(handshake *h, weir_buffer *out, const weir_settings *settings)
{
    if (settings->password[0] != '\0') {
        const bool user = settings->user[0] != '\0';
        weir_command_begin(out, user ? 3 : 2);
        weir_command_text(out, "AUTH");
        if (user) {
            weir_command_text(out, settings->user);
        }
        weir_command_text(out, settings->password);
        h->steps[h->count++] = AUTH;
    }
    if (settings->db != 0) {
        weir_command_begin(out, 2);
        weir_command_text(out, "SELECT");
        weir_command_number(out, settings->db);
        h->steps[h->count++] = SELECT;
    }
    weir_command_begin(out, 3);
    weir_command_text(out, "CLIENT");
    weir_command_text(out, "SETNAME");
    weir_command_text(out, settings->name);
    h->steps[h->count++] = SETNAME;
}

static void on_reply(void *context, const weir_reply *reply)
{
    handshake *h = context;
    const step done = h->steps[h->answered++];
    if (reply->kind != WEIR_REPLY_ERROR) {
        h->odd |= reply->kind != WEIR_REPLY_TEXT;
        return;
    }
    const weir_refusal *refusal = weir_refusal_of(reply->text);
    // A name is only for people: proxies and users without the right to give one go without.
    const bool matters = done != SETNAME || refusal->status == WEIR_WRONG_PASSWORD ||
                         (refusal->again && refusal->drop);
    if (matters && h->refusal == NULL) {
        h->refusal = refusal;
    }
}

static weir_status refused(const weir_refusal *refusal, const weir_settings *settings, bool *again,
                           weir_error *error)
{
    *again = refusal->again;
    const weir_status status = refusal->status == WEIR_PROTOCOL ? WEIR_NOT_REDIS : refusal->status;
    return weir_fail(error, status, "redis at %s: %s", settings->address, refusal->sentence);
}

weir_status weir_handshake(weir_connection *connection, const weir_settings *settings,
                           int64_t deadline_us, bool *again, weir_error *error)
{
    handshake h = {0};
    *again = false;
    weir_buffer *out = &connection->out;
    out->size = 0;
    out->failed = false;
    write_commands(&h, out, settings);
    if (out->failed) {
        return weir_fail(error, WEIR_NO_MEMORY, "no memory for a connection to redis at %s",
                         settings->address);
    }
    size_t sent;
    const weir_exchange outcome =
        weir_connection_exchange(connection, h.count, on_reply, &h, deadline_us, &sent);
    explicit_bzero(out->bytes, out->size);
    connection->used = false;
    if (h.refusal != NULL) { // the server may well hang up after it
        return refused(h.refusal, settings, again, error);
    }
    switch (outcome) {
    case WEIR_EXCHANGE_DONE:
        if (!h.odd) {
            return WEIR_OK;
        }
        break;
    case WEIR_EXCHANGE_LATE:
        return weir_fail(error, WEIR_NOT_EXECUTED,
                         "redis at %s took the connection and did not answer by the deadline",
                         settings->address);
    case WEIR_EXCHANGE_CLOSED:
        return weir_fail(error, WEIR_NOT_EXECUTED, "redis at %s closed the connection at once",
                         settings->address);
    case WEIR_EXCHANGE_WRONG:
        break;
    }
    return weir_fail(error, WEIR_NOT_REDIS, "what answers at %s is not a Redis server",
                     settings->address);
}
