// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "server/daemon/log_writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/line_ring.h"
#include "server/daemon/log.h"

// A pipe that poll calls writable takes this many bytes (PIPE_BUF) without blocking.
#define PIECE_SIZE 4096
#define RETRY_MS 1000
// How long a thread that was told to end may still be inside one system call.
#define ABANDON_MS 200

struct cairn_log_writer {
    cairn_log_writer_config config;
    pthread_t thread;
    int wake;               // eventfd: readable when writing must stop at once
    pthread_mutex_t format; // guards the log of those who call write
    // The mutex is held to copy bytes, never during a write.
    pthread_mutex_t mutex;
    pthread_cond_t work;  // lines wait, or `ending`
    pthread_cond_t ended; // the thread has returned from its last write
    bool ending;
    bool has_ended;
    bool unwritten;
    cairn_line_ring ring;
    char bytes[]; // [ring_size], of the ring
};

// Waits until the descriptor takes bytes. False: writing must stop.
static bool wait_until_writable(const cairn_log_writer *writer, int timeout_ms) {
    struct pollfd polled[] = {
        {.fd = writer->wake, .events = POLLIN},
        {.fd = writer->config.descriptor, .events = POLLOUT},
    };
    const bool retry = timeout_ms >= 0;
    const int ready = poll(polled, retry ? 1 : 2, timeout_ms);
    return ready <= 0 || (polled[0].revents & POLLIN) == 0;
}

// False: writing must stop; the rest is not written.
static bool write_all(const cairn_log_writer *writer, const char *bytes, size_t size) {
    size_t at = 0;
    int pause_ms = -1;
    while (at < size) {
        if (!wait_until_writable(writer, pause_ms)) {
            return false;
        }
        const size_t rest = size - at < PIECE_SIZE ? size - at : PIECE_SIZE;
        const ssize_t written = write(writer->config.descriptor, bytes + at, rest);
        at += written > 0 ? (size_t)written : 0;
        const bool again = written >= 0 || errno == EINTR || errno == EAGAIN;
        pause_ms = again ? -1 : RETRY_MS;
    }
    return true;
}

// Takes the next bytes to write. 0: nothing waits.
static size_t take_piece(cairn_log_writer *writer, char piece[CAIRN_LOG_LINE_SIZE_MAX]) {
    const uint64_t lines = cairn_line_ring_take_lost(&writer->ring);
    return lines > 0 ? writer->config.write_lost(writer->config.user, lines, piece)
                     : cairn_line_ring_take(&writer->ring, piece, PIECE_SIZE);
}

static void *write_lines(void *argument) {
    cairn_log_writer *writer = argument;
    char piece[CAIRN_LOG_LINE_SIZE_MAX];
    bool going = true;
    pthread_mutex_lock(&writer->mutex);
    while (going) {
        const size_t size = take_piece(writer, piece);
        if (size > 0) {
            pthread_mutex_unlock(&writer->mutex);
            going = write_all(writer, piece, size);
            pthread_mutex_lock(&writer->mutex);
            writer->unwritten = !going;
        } else if (writer->ending) {
            going = false;
        } else {
            pthread_cond_wait(&writer->work, &writer->mutex);
        }
    }
    writer->has_ended = true;
    pthread_cond_signal(&writer->ended);
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

static int start_thread(cairn_log_writer *writer) {
    sigset_t all, before;
    sigfillset(&all);
    // Signals belong to the thread that drives the server.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&writer->thread, NULL, write_lines, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void free_writer(cairn_log_writer *writer) {
    pthread_cond_destroy(&writer->ended);
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->mutex);
    pthread_mutex_destroy(&writer->format);
    if (writer->wake >= 0) {
        close(writer->wake);
    }
    free(writer);
}

cairn_status cairn_log_writer_open(const cairn_log_writer_config *config, cairn_log_writer **out) {
    CAIRN_ASSERT(config->ring_size > 0 && config->write_lost != NULL);
    *out = NULL;
    cairn_log_writer *writer = calloc(1, sizeof *writer + config->ring_size);
    if (writer == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    writer->config = *config;
    writer->ring = cairn_line_ring_of(writer->bytes, config->ring_size);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_mutex_init(&writer->format, NULL);
    pthread_cond_init(&writer->work, NULL);
    pthread_cond_init(&writer->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    writer->wake = eventfd(0, EFD_CLOEXEC);
    const int code = writer->wake < 0 ? errno : start_thread(writer);
    if (code != 0) {
        free_writer(writer);
        errno = code;
        return CAIRN_IO_FAILED;
    }
    *out = writer;
    return CAIRN_OK;
}

bool cairn_log_writer_put(cairn_log_writer *writer, const char *line, size_t size) {
    pthread_mutex_lock(&writer->mutex);
    const bool fits = cairn_line_ring_put(&writer->ring, line, size);
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->mutex);
    return fits;
}

void cairn_log_writer_set_level(cairn_log_writer *writer, cairn_log *log, cairn_log_level level) {
    pthread_mutex_lock(&writer->format);
    log->level = level;
    pthread_mutex_unlock(&writer->format);
}

void cairn_log_writer_write(cairn_log_writer *writer, cairn_log *log, const cairn_log_line *line) {
    char text[CAIRN_LOG_LINE_SIZE_MAX];
    pthread_mutex_lock(&writer->format);
    const size_t size = cairn_log_write(log, line, text);
    pthread_mutex_unlock(&writer->format);
    if (size > 0) {
        (void)cairn_log_writer_put(writer, text, size);
    }
}

uint64_t cairn_log_writer_lost(const cairn_log_writer *writer) {
    cairn_log_writer *locked = (cairn_log_writer *)writer;
    pthread_mutex_lock(&locked->mutex);
    const uint64_t lost = writer->ring.lost;
    pthread_mutex_unlock(&locked->mutex);
    return lost;
}

size_t cairn_log_writer_waiting(const cairn_log_writer *writer) {
    cairn_log_writer *locked = (cairn_log_writer *)writer;
    pthread_mutex_lock(&locked->mutex);
    const size_t size = writer->ring.size;
    pthread_mutex_unlock(&locked->mutex);
    return size;
}

// The mutex is held.
static void wait_for_end(cairn_log_writer *writer, uint32_t wait_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)wait_ms * 1000000;
    until.tv_sec += (time_t)(ns / CAIRN_NS_PER_S);
    until.tv_nsec = (long)(ns % CAIRN_NS_PER_S);
    int code = 0;
    while (!writer->has_ended && code == 0) {
        code = pthread_cond_timedwait(&writer->ended, &writer->mutex, &until);
    }
}

bool cairn_log_writer_close(cairn_log_writer *writer, uint32_t wait_ms) {
    if (writer == NULL) {
        return true;
    }
    pthread_mutex_lock(&writer->mutex);
    writer->ending = true;
    pthread_cond_signal(&writer->work);
    wait_for_end(writer, wait_ms);
    if (!writer->has_ended) {
        const uint64_t one = 1;
        const ssize_t woken = write(writer->wake, &one, sizeof one);
        CAIRN_ASSERT(woken == sizeof one);
        wait_for_end(writer, ABANDON_MS);
    }
    const bool ended = writer->has_ended;
    const bool complete = ended && !writer->unwritten;
    pthread_mutex_unlock(&writer->mutex);
    if (ended) {
        pthread_join(writer->thread, NULL);
        free_writer(writer);
    } else {
        pthread_detach(writer->thread);
    }
    return complete;
}
