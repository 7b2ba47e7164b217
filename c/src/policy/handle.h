// What a policy holds of a call: requests, checks and denials, as values that can't be forged.
//
// A handle is a light userdata: the number of the call it was made for, and which part of it is
// meant. It takes no memory, a policy has no way to make one, and one kept after its call is known
// by the number.

#ifndef WEIR_POLICY_HANDLE_H
#define WEIR_POLICY_HANDLE_H

#include <stdint.h>

// Parts below these are checks, by their place in the call.
enum { HANDLE_DENIAL = 253, HANDLE_REQUEST = 254, HANDLE_RESPONSE = 255 };

static inline void *handle_make(uintptr_t call, unsigned part)
{
    return (void *)(call << 8 | part);
}

static inline uintptr_t handle_call(const void *handle)
{
    return (uintptr_t)handle >> 8;
}

static inline unsigned handle_part(const void *handle)
{
    return (unsigned)((uintptr_t)handle & 0xff);
}

#endif
