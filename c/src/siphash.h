// SipHash-1-3: a keyed hash, so that who does not know the key can't make two inputs meet.
//
// J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012, with one compression
// and three finalization rounds: the variant that hash tables use (Rust, Python, Ruby), since a
// table shows no hash values to an attacker.

#ifndef WEIR_SRC_SIPHASH_H
#define WEIR_SRC_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct sip_state {
    uint64_t v0, v1, v2, v3;
} sip_state;

#define SIP_INLINE static inline __attribute__((always_inline)) // or the state goes through memory

SIP_INLINE uint64_t sip_rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

SIP_INLINE void sip_round(sip_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = sip_rotate(s->v1, 13) ^ s->v0;
    s->v3 = sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 = sip_rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = sip_rotate(s->v1, 17) ^ s->v2;
    s->v3 = sip_rotate(s->v3, 21) ^ s->v0;
    s->v2 = sip_rotate(s->v2, 32);
}

SIP_INLINE void sip_word(sip_state *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

SIP_INLINE sip_state sip_begin(const uint64_t key[2])
{
    return (sip_state){
        key[0] ^ UINT64_C(0x736f6d6570736575),
        key[1] ^ UINT64_C(0x646f72616e646f6d),
        key[0] ^ UINT64_C(0x6c7967656e657261),
        key[1] ^ UINT64_C(0x7465646279746573),
    };
}

// The last bytes, fewer than eight, in two overlapping reads: no loop over single bytes.
SIP_INLINE uint64_t sip_tail(const unsigned char *bytes, size_t count)
{
    uint32_t low, high;
    if (count >= 4) {
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + count - 4, 4);
        return low | (uint64_t)high << (8 * (count - 4));
    }
    if (count == 0) {
        return 0;
    }
    return bytes[0] | (uint64_t)bytes[count / 2] << (8 * (count / 2)) |
           (uint64_t)bytes[count - 1] << (8 * (count - 1));
}

// Takes the bytes and their number, and finishes. `before` is how many bytes were taken as words
// already.
SIP_INLINE uint64_t sip_finish(sip_state s, const void *data, size_t size, size_t before)
{
    const unsigned char *bytes = data;
    size_t left = size;
    for (; left >= 8; left -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sip_word(&s, word);
    }
    sip_word(&s, sip_tail(bytes, left) | (uint64_t)(before + size) << 56);
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

#endif
