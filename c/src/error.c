// The sentence of an error. Each library has its own copy, since what is hidden in one is not seen
// by another.

#include "error.h"

#include <stdarg.h>
#include <stdio.h>

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
