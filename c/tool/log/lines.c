// lines: maps a plain file, inflates gzip, reads a pipe.

#include "log/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE ((size_t)256 << 10)

// What was read of the file and not yet handed on.
struct lines_feed {
    unsigned char in[64 << 10];
    size_t in_at, in_size;
    bool active; // a zlib stream stands
    z_stream stream;
};

static void fail(log_lines *lines, const char *why)
{
    snprintf(lines->error, sizeof lines->error, "%s", why);
    lines->ended = true;
}

static bool is_gzip(const unsigned char *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static ssize_t read_again(int fd, void *out, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, out, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

// A plain file that has bytes and is not gzip needs no reading at all.
static bool map_whole(log_lines *lines, const struct stat *file)
{
    unsigned char magic[2];
    if (!S_ISREG(file->st_mode) || file->st_size <= 0 ||
        (pread(lines->fd, magic, 2, 0) == 2 && is_gzip(magic, 2))) {
        return false;
    }
    void *map = mmap(NULL, (size_t)file->st_size, PROT_READ, MAP_PRIVATE, lines->fd, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    madvise(map, (size_t)file->st_size, MADV_WILLNEED);
    close(lines->fd);
    lines->fd = -1;
    lines->map = map;
    lines->data = map;
    lines->size = (size_t)file->st_size;
    lines->ended = true;
    lines->kept = true;
    return true;
}

// The first bytes tell whether it is gzip.
static bool start_reading(log_lines *lines)
{
    lines_feed *feed = lines->feed = calloc(1, sizeof *feed);
    if (!feed) {
        fail(lines, "there is no memory to read it");
        return false;
    }
    while (feed->in_size < 2) {
        ssize_t got =
            read_again(lines->fd, feed->in + feed->in_size, sizeof feed->in - feed->in_size);
        if (got < 0) {
            fail(lines, strerror(errno));
            return false;
        }
        if (got == 0) {
            break;
        }
        feed->in_size += (size_t)got;
    }
    if (!is_gzip(feed->in, feed->in_size)) {
        return true;
    }
    if (inflateInit2(&feed->stream, 16 + MAX_WBITS) != Z_OK) {
        fail(lines, "there is no memory to inflate it");
        return false;
    }
    feed->active = lines->compressed = true;
    return true;
}

bool lines_open(log_lines *lines, const char *path)
{
    *lines = (log_lines){.path = path, .fd = -1};
    bool standard = strcmp(path, "-") == 0;
    lines->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    if (lines->fd < 0 || fstat(lines->fd, &file) != 0) {
        fail(lines, strerror(errno));
        return false;
    }
    if (S_ISDIR(file.st_mode)) {
        fail(lines, "it is a directory");
        return false;
    }
    lines->file_bytes = S_ISREG(file.st_mode) ? (size_t)file.st_size : 0;
    // A shell may have read some of the standard input already, and a map would start over.
    if (!standard && map_whole(lines, &file)) {
        return true;
    }
    if (!start_reading(lines)) {
        return false;
    }
    while (!lines->ended && lines->size < LINES_SAMPLE) {
        lines_more(lines);
    }
    return lines->size > 0 || lines->error[0] == '\0';
}

void lines_close(log_lines *lines)
{
    if (lines->map) {
        munmap(lines->map, lines->size);
    }
    if (lines->feed && lines->feed->active) {
        inflateEnd(&lines->feed->stream);
    }
    free(lines->feed);
    grow_free(&lines->buffer);
    if (lines->fd >= 0) {
        close(lines->fd);
    }
    *lines = (log_lines){.fd = -1, .ended = true};
}

// The raw bytes of a file that is not gzip.
static size_t read_plain(log_lines *lines, char *out, size_t room)
{
    lines_feed *feed = lines->feed;
    if (feed->in_at < feed->in_size) {
        size_t size = feed->in_size - feed->in_at;
        memcpy(out, feed->in + feed->in_at, size);
        feed->in_at = feed->in_size;
        return size;
    }
    ssize_t got = read_again(lines->fd, out, room);
    if (got < 0) {
        fail(lines, strerror(errno));
    }
    if (got <= 0) {
        lines->ended = true;
    }
    return got > 0 ? (size_t)got : 0;
}

// Inflates one step. Members may follow one another, as after `cat a.gz b.gz`; what follows the
// last and is no member is padding.
static size_t read_gzip(log_lines *lines, char *out, size_t room)
{
    lines_feed *feed = lines->feed;
    z_stream *stream = &feed->stream;
    if (feed->in_at == feed->in_size) {
        ssize_t got = read_again(lines->fd, feed->in, sizeof feed->in);
        if (got <= 0) {
            fail(lines, got < 0 ? strerror(errno) : "the gzip stream ends in the middle");
            return 0;
        }
        feed->in_at = 0;
        feed->in_size = (size_t)got;
    }
    stream->next_in = feed->in + feed->in_at;
    stream->avail_in = (uInt)(feed->in_size - feed->in_at);
    stream->next_out = (unsigned char *)out;
    stream->avail_out = (uInt)room;
    int status = inflate(stream, Z_NO_FLUSH);
    feed->in_at = feed->in_size - stream->avail_in;
    size_t size = room - stream->avail_out;
    if (status == Z_STREAM_END) {
        if (feed->in_at == feed->in_size) {
            ssize_t got = read_again(lines->fd, feed->in, sizeof feed->in);
            feed->in_at = 0;
            feed->in_size = got > 0 ? (size_t)got : 0;
        }
        if (feed->in_size > feed->in_at && feed->in[feed->in_at] == 0x1f) {
            inflateReset(stream);
        } else {
            lines->ended = true;
        }
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail(lines, "the gzip stream is damaged");
    }
    return size;
}

// What may be held at hand: a small gzip file can inflate without end.
static size_t most_bytes(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
}

bool lines_more(log_lines *lines)
{
    if (lines->ended) {
        return false;
    }
    if (!lines->kept && lines->at > 0) {
        lines->size -= lines->at;
        memmove(lines->buffer.data, (char *)lines->buffer.data + lines->at, lines->size);
        lines->at = 0;
    }
    if (lines->size + PIECE > most_bytes() || !grow_to(&lines->buffer, lines->size + PIECE)) {
        fail(lines, lines->kept ? "the rest does not fit into half of this machine's memory; "
                                  "--as-logged reads it line by line"
                                : "a line does not fit into half of this machine's memory");
        return false;
    }
    lines->data = lines->buffer.data;
    char *out = (char *)lines->buffer.data + lines->size;
    lines->size += lines->compressed ? read_gzip(lines, out, PIECE) : read_plain(lines, out, PIECE);
    return !lines->ended;
}

void lines_load(log_lines *lines, progress_function *progress)
{
    lines->kept = true;
    while (lines_more(lines)) {
        off_t at = progress && lines->file_bytes ? lseek(lines->fd, 0, SEEK_CUR) : -1;
        if (at >= 0) {
            progress("reading", (double)at / (double)lines->file_bytes);
        }
    }
    if (lines->fd >= 0) {
        close(lines->fd);
    }
    lines->fd = -1;
}
