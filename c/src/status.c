// Names and meanings of the status codes, and the sentence of an error.

#include "error.h"

#include <stdarg.h>
#include <stdio.h>

const char *weir_status_name(weir_status status)
{
    switch (status) {
#define WEIR_STATUS_NAME(name, code, meaning)                                                      \
    case WEIR_##name:                                                                              \
        return "WEIR_" #name;
        WEIR_STATUS_LIST(WEIR_STATUS_NAME)
#undef WEIR_STATUS_NAME
    }
    return "unknown status";
}

const char *weir_status_meaning(weir_status status)
{
    switch (status) {
#define WEIR_STATUS_MEANING(name, code, meaning)                                                   \
    case WEIR_##name:                                                                              \
        return meaning;
        WEIR_STATUS_LIST(WEIR_STATUS_MEANING)
#undef WEIR_STATUS_MEANING
    }
    return "unknown status";
}

int weir_abi(void)
{
    return WEIR_ABI;
}

const char *weir_version(void)
{
    return WEIR_VERSION;
}

weir_status weir_fail(weir_error *error, weir_status status, const char *format, ...)
{
    if (error == NULL) {
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    for (char *c = error->message; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
    error->status = status;
    return status;
}
