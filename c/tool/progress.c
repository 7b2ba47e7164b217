// progress: one line that is written over.

#include "progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool begun, terminal, shown;
    int64_t begun_ms, shown_ms;
} progress;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_show(const char *work, double part)
{
    int64_t now = now_ms();
    if (!progress.begun) {
        progress.begun = true;
        progress.begun_ms = now;
        progress.terminal = isatty(STDERR_FILENO);
    }
    if (!progress.terminal || now - progress.begun_ms < 1000 || now - progress.shown_ms < 100) {
        return;
    }
    progress.shown = true;
    progress.shown_ms = now;
    fprintf(stderr, "\r%s %3.0f %%", work, 100 * part);
    fflush(stderr);
}

void progress_end(void)
{
    if (progress.shown) {
        fprintf(stderr, "\r\033[K");
    }
    progress.shown = false;
}
