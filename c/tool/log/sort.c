// sort: a merge sort from the bottom up that leaves what stands right where it is.

#include "log/sort.h"

#include <string.h>

#include "grow.h"

#define BLOCK 16

static void sort_block(record *at, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        record moved = at[i];
        size_t to = i;
        for (; to > 0 && at[to - 1].time_us > moved.time_us; to--) {
            at[to] = at[to - 1];
        }
        at[to] = moved;
    }
}

// How many of the records are not after the time.
static size_t count_until(const record *at, size_t count, int64_t time_us)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (at[low + half].time_us <= time_us) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

// Merges two sorted neighbours. Only the part of the left one that must move is copied aside.
static void merge(record *at, size_t left, size_t total, record *aside)
{
    if (at[left - 1].time_us <= at[left].time_us) {
        return;
    }
    size_t placed = count_until(at, left, at[left].time_us);
    at += placed;
    left -= placed;
    total -= placed;
    memcpy(aside, at, left * sizeof *at);

    size_t a = 0, b = left, to = 0;
    while (a < left && b < total) {
        at[to++] = at[b].time_us < aside[a].time_us ? at[b++] : aside[a++];
    }
    memcpy(at + to, aside + a, (left - a) * sizeof *at);
}

bool sort_records(record *records, size_t count)
{
    grow aside = {0};
    if (!grow_to(&aside, count * sizeof *records)) {
        return false;
    }
    for (size_t at = 0; at < count; at += BLOCK) {
        sort_block(records + at, count - at < BLOCK ? count - at : BLOCK);
    }
    for (size_t width = BLOCK; width < count; width *= 2) {
        for (size_t at = 0; count - at > width; at += 2 * width) {
            size_t total = count - at < 2 * width ? count - at : 2 * width;
            merge(records + at, width, total, aside.data);
            if (total < 2 * width) {
                break;
            }
        }
    }
    grow_free(&aside);
    return true;
}
