// SPDX-License-Identifier: MIT
#include "tools/demo/process.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/assert.h"

#define LINE_SIZE_MAX 8192

struct cairn_process {
    cairn_process *next;
    uv_process_t process;
    uv_pipe_t output;
    cairn_process_listener on_line;
    void *user;
    bool exited;
    bool closed; // the output is at its end
    int code;
    size_t held; // bytes of `line` before the end of their line
    char line[LINE_SIZE_MAX];
};

struct cairn_process_set {
    uv_loop_t loop;
    uv_timer_t timer;
    cairn_process *list;
};

cairn_process_set *cairn_process_set_create(void) {
    cairn_process_set *set = calloc(1, sizeof *set);
    if (set != NULL && uv_loop_init(&set->loop) != 0) {
        free(set);
        return NULL;
    }
    if (set != NULL) {
        uv_timer_init(&set->loop, &set->timer);
    }
    return set;
}

static void on_time(uv_timer_t *timer) {
    uv_stop(timer->loop);
}

void cairn_process_set_run(cairn_process_set *set, unsigned wait_ms) {
    uv_update_time(&set->loop);
    uv_timer_start(&set->timer, on_time, wait_ms, 0);
    uv_unref((uv_handle_t *)&set->timer); // the timer alone must not keep the loop running
    uv_run(&set->loop, UV_RUN_DEFAULT);
    uv_timer_stop(&set->timer);
}

static void close_handle(uv_handle_t *handle, void *user) {
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

void cairn_process_set_destroy(cairn_process_set *set) {
    if (set == NULL) {
        return;
    }
    for (cairn_process *at = set->list; at != NULL; at = at->next) {
        if (!at->exited) {
            uv_process_kill(&at->process, SIGKILL);
        }
    }
    uv_run(&set->loop, UV_RUN_DEFAULT); // until the last has ended
    uv_walk(&set->loop, close_handle, NULL);
    uv_run(&set->loop, UV_RUN_DEFAULT);
    const int code = uv_loop_close(&set->loop);
    CAIRN_ASSERT(code == 0);
    while (set->list != NULL) {
        cairn_process *next = set->list->next;
        free(set->list);
        set->list = next;
    }
    free(set);
}

static void on_exit_status(uv_process_t *handle, int64_t status, int signal_number) {
    cairn_process *process = handle->data;
    process->exited = true;
    process->code = signal_number != 0 ? 128 + signal_number : (int)status;
}

// The rest of the line, so that the buffer always has room: a line that fills it is dropped.
static void on_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    (void)suggested;
    cairn_process *process = handle->data;
    process->held = process->held == LINE_SIZE_MAX ? 0 : process->held;
    *out = uv_buf_init(process->line + process->held, (unsigned)(LINE_SIZE_MAX - process->held));
}

static void on_output(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    (void)buffer;
    cairn_process *process = stream->data;
    if (size < 0) {
        uv_read_stop(stream);
        process->closed = true;
        return;
    }
    process->held += (size_t)size;
    CAIRN_ASSERT(process->held <= LINE_SIZE_MAX);
    char *begin = process->line;
    char *end = process->line + process->held;
    char *newline;
    while ((newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
        *newline = '\0';
        process->on_line(process->user, begin);
        begin = newline + 1;
    }
    process->held = (size_t)(end - begin);
    memmove(process->line, begin, process->held);
}

cairn_process *cairn_process_start(
    cairn_process_set *set, char **argv, cairn_process_listener on_line, void *user) {
    CAIRN_ASSERT(argv[0] != NULL && on_line != NULL);
    cairn_process *process = calloc(1, sizeof *process);
    if (process == NULL) {
        return NULL;
    }
    *process = (cairn_process){.next = set->list, .on_line = on_line, .user = user, .code = -1};
    set->list = process;
    process->process.data = process;
    process->output.data = process;
    uv_pipe_init(&set->loop, &process->output, 0);
    uv_stdio_container_t streams[] = {{.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
            .data.stream = (uv_stream_t *)&process->output},
        {.flags = UV_INHERIT_FD, .data.fd = 2}};
    const uv_process_options_t options = {.file = argv[0],
        .args = argv,
        .exit_cb = on_exit_status,
        .stdio = streams,
        .stdio_count = 3};
    if (uv_spawn(&set->loop, &process->process, &options) != 0 ||
        uv_read_start((uv_stream_t *)&process->output, on_buffer, on_output) != 0) {
        process->exited = true;
        process->closed = true;
        return NULL;
    }
    return process;
}

bool cairn_process_ended(const cairn_process *process) {
    return process->exited && process->closed;
}

int cairn_process_code(const cairn_process *process) {
    return process->code;
}

void cairn_process_ask_to_end(cairn_process *process) {
    if (!process->exited) {
        uv_process_kill(&process->process, SIGTERM);
    }
}
