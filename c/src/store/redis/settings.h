// Where the server is and how to speak with it: URL and options, checked once.

#ifndef WEIR_SRC_REDIS_SETTINGS_H
#define WEIR_SRC_REDIS_SETTINGS_H

#include <stdbool.h>

#include "weir/redis.h"

#define WEIR_HOST_MAX   255
#define WEIR_PATH_MAX   107 // what fits a sockaddr_un
#define WEIR_SECRET_MAX 1023

// Texts end with a NUL, and are empty when there is none.
typedef struct weir_settings {
    char host[WEIR_HOST_MAX + 1];
    char path[WEIR_PATH_MAX + 1]; // of a Unix socket, in place of host and port
    int port;
    int db;
    char user[WEIR_NAME_MAX * 4 + 1];
    char password[WEIR_SECRET_MAX + 1];
    char name[WEIR_NAME_MAX + 1];
    char address[WEIR_HOST_MAX + 16]; // for people: host:port or the path
    int64_t deadline_us;
    size_t connections;
    weir_on_error on_error;
    bool cluster;
} weir_settings;

// Fills the settings from a URL. No sentence quotes any of it: a URL that is written wrongly may
// show its password anywhere.
weir_status weir_url_parse(weir_settings *settings, const char *url, weir_error *error);

// Defaults, then the URL, then the options. Checks them all.
weir_status weir_settings_init(weir_settings *settings, const weir_redis_options *options,
                               weir_error *error);

#endif
