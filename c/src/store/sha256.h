// SHA-256 (FIPS 180-4), for keys too long to be kept: nobody can make two of them meet.

#ifndef WEIR_SRC_SHA256_H
#define WEIR_SRC_SHA256_H

#include <stddef.h>

// Writes 64 lower-case hexadecimal digits, without a NUL.
void weir_sha256_hex(const void *data, size_t size, char out[64]);

#endif
