// The resolver runs in a thread that may outlive the call that asked, and even the store.

#include "store/redis/lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "error.h"
#include "store/redis/deadline.h"

struct weir_lookup {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int holders; // the store, and the thread while it runs
    bool running;
    uint64_t done; // look-ups that have ended
    int failure;   // of the last: what getaddrinfo returned
    weir_addresses found;
    char host[WEIR_HOST_MAX + 1];
    char port[8];
};

weir_lookup *weir_lookup_open(void)
{
    weir_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL) {
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&lookup->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&lookup->lock, NULL);
    lookup->holders = 1;
    return lookup;
}

// Called with the lock held; the last one frees.
static void let_go(weir_lookup *lookup)
{
    const bool last = --lookup->holders == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (last) {
        pthread_cond_destroy(&lookup->ended);
        pthread_mutex_destroy(&lookup->lock);
        free(lookup);
    }
}

void weir_lookup_close(weir_lookup *lookup)
{
    if (lookup != NULL) {
        pthread_mutex_lock(&lookup->lock);
        let_go(lookup);
    }
}

void weir_lookup_leave(weir_lookup *lookup)
{
    free(lookup);
}

static int resolve(const char *host, const char *port, int flags, weir_addresses *out)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *list;
    const int failure = getaddrinfo(host, port, &hints, &list);
    if (failure != 0) {
        return failure;
    }
    out->count = 0;
    for (const struct addrinfo *a = list; a != NULL && out->count < WEIR_ADDRESSES_MAX;
         a = a->ai_next) {
        if (a->ai_addrlen <= sizeof out->at[0].address) {
            memcpy(&out->at[out->count].address, a->ai_addr, a->ai_addrlen);
            out->at[out->count++].size = a->ai_addrlen;
        }
    }
    freeaddrinfo(list);
    return 0;
}

static void *run(void *argument)
{
    weir_lookup *lookup = argument;
    weir_addresses found = {0};
    const int failure = resolve(lookup->host, lookup->port, 0, &found);
    pthread_mutex_lock(&lookup->lock);
    lookup->failure = failure;
    lookup->found = found;
    lookup->done++;
    lookup->running = false;
    pthread_cond_broadcast(&lookup->ended);
    let_go(lookup);
    return NULL;
}

// Called with the lock held. The host's signals are not this thread's business.
static int start(weir_lookup *lookup, const weir_settings *settings, const char *port)
{
    strcpy(lookup->host, settings->host);
    strcpy(lookup->port, port);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const int failure = pthread_create(&thread, &detached, run, lookup);
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) {
        lookup->running = true;
        lookup->holders++;
    }
    return failure;
}

static void socket_address(const char *path, weir_addresses *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path); // the settings made sure that it fits
    memcpy(&out->at[0].address, &address, sizeof address);
    out->at[0].size = sizeof address;
    out->count = 1;
}

weir_status weir_lookup_find(weir_lookup *lookup, const weir_settings *settings,
                             int64_t deadline_us, weir_addresses *out, weir_error *error)
{
    if (settings->path[0] != '\0') {
        socket_address(settings->path, out);
        return WEIR_OK;
    }
    char port[8];
    snprintf(port, sizeof port, "%d", settings->port);
    if (resolve(settings->host, port, AI_NUMERICHOST, out) == 0 && out->count > 0) {
        return WEIR_OK;
    }
    pthread_mutex_lock(&lookup->lock);
    if (!lookup->running && start(lookup, settings, port) != 0) {
        pthread_mutex_unlock(&lookup->lock);
        return weir_fail(error, WEIR_NO_MEMORY, "no thread could be had to look up %s",
                         settings->host);
    }
    const uint64_t before = lookup->done;
    const struct timespec until = weir_timespec(deadline_us);
    int late = 0;
    while (lookup->done == before && late == 0) {
        late = pthread_cond_timedwait(&lookup->ended, &lookup->lock, &until);
    }
    const bool ended = lookup->done != before;
    const int failure = lookup->failure;
    *out = lookup->found;
    pthread_mutex_unlock(&lookup->lock);
    if (ended && failure == 0 && out->count > 0) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_NOT_EXECUTED, "redis at %s: the name could not be looked up: %s",
                     settings->address,
                     !ended         ? "no answer by the deadline"
                     : failure != 0 ? gai_strerror(failure)
                                    : "it has no address");
}
