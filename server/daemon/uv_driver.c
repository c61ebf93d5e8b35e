// SPDX-License-Identifier: MIT
// For what libuv names of threads, and for O_DIRECTORY.
#define _GNU_SOURCE
#include <cairn/server_uv.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/assert.h"
#include "base/limits.h"
#include "server/daemon/gathering.h"
#include "server/daemon/udp_port.h"
#include <cairn/server.h>

// Datagrams that are received before the ticks that are due: a flood delays these by a fraction of
// a millisecond.
#define RECEIVE_MAX (2 * CAIRN_UDP_BATCH_MAX)
// Descriptors that the loop, its signals, its timer and the sockets take.
#define LOOP_DESCRIPTORS 13
// The system is told who is connected this often at most: for 1,000 clients that takes .3 ms.
#define TELL_CLIENTS_NS UINT64_C(100000000)
// How long to wait when the socket's send buffer is full.
#define SEND_WAIT_NS 1000000
// After some batches of datagrams, fewer if they are long, the loop receives, steps what is due,
// and sleeps for a moment before it sends more. So a tick does not send to a thousand clients in
// one burst, and nothing else waits until all clients are served.
#define SEND_BATCHES_MAX 4
#define SEND_BYTES_MAX 65536
#define SEND_PAUSE_NS 300000

// How long threads of sockets are waited for, and how often it is looked whether they are still.
#define HOLD_NS UINT64_C(5000000)
#define HOLD_LOOK_NS 20000

// How often it is looked whether the last client has left, after a signal.
#define LEAVE_LOOK_MS 250
// From cairn_uv_driver_drain to what it does.
#define DRAIN_MS 50

#define JOB_THREADS_DEFAULT 16
#define JOB_THREADS_MAX 64
// What the thread of tasks adds to its niceness. Where processors are few, ticks and datagrams go
// before recordings, states that are packed for clients, and worlds that operators ask for.
#define TASK_NICENESS 5

// A job or a task on a thread.
typedef struct work {
    struct work *next;
    cairn_server_job *job;   // or
    cairn_server_task *task; // the other is NULL
} work;

typedef struct work_list {
    work *first;
    work *last;
} work_list;

// Threads that take work from one queue, first come first served. They are the driver's own:
// libuv's pool ends the process when it cannot be made, and a disk that hangs would keep its
// threads from the ticks.
typedef struct lane {
    cairn_uv_driver *driver;
    uv_mutex_t mutex;
    uv_cond_t changed;
    work_list waiting;
    uint32_t waiting_count;
    uint32_t idle; // threads that sleep, or were woken and have not taken their work yet
    bool ending;
    uint32_t thread_count;
    uint32_t threads_max;
    uv_thread_t threads[JOB_THREADS_MAX];
} lane;

struct cairn_uv_driver {
    uv_loop_t loop;
    lane jobs;
    lane disk;        // one thread, so that tasks run in order
    bool has_lanes;   // their mutexes exist
    uv_async_t ready; // work is done
    uv_mutex_t done_mutex;
    uv_cond_t done_changed;
    work_list done;
    uv_poll_t receive[CAIRN_UDP_POLLED_MAX];
    uint32_t receive_count;
    uv_poll_t tick;
    uv_check_t check;
    uv_idle_t at_once; // started: the loop comes back without waiting
    uv_signal_t sigint;
    uv_signal_t sigterm;
    uv_signal_t sighup;
    uv_timer_t end;
    uv_timer_t stats;
    uv_timer_t beat;
    bool asked_to_drain;
    uint64_t leave_ns; // when clients are disconnected after a signal; 0: there was none
    int timer_fd;
    cairn_udp_port *port;
    cairn_uv_run run; // server NULL: not running
    uint64_t armed_ns;
    uint64_t send_again_ns; // 0: nothing waits to be sent
    bool pauses;            // the rest waits for a pause, and not for a full socket
    size_t filled;          // bytes of the batches since the last pause
    cairn_uv_statistics statistics;
    uint64_t received_ns; // the time of what is being received
    cairn_gathering gathering;
    bool arrived, hurries; // in this turn of the loop datagrams arrived; something else is due
    // What the port was told of clients last, and when.
    uint64_t clients_told;
    uint64_t clients_told_ns;
};

uint64_t cairn_uv_now_ns(void) {
    return uv_hrtime();
}

uint64_t cairn_uv_unix_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

void cairn_uv_driver_count(cairn_uv_driver *driver) {
    driver->gathering.counted += 1;
}

static void give(void *user, const cairn_udp_received *datagram) {
    const cairn_uv_driver *driver = user;
    cairn_server_receive(
        driver->run.server, driver->received_ns, &datagram->from, datagram->bytes, datagram->size);
}

// What waits, up to a limit. The rest follows when the loop comes back.
static void receive(cairn_uv_driver *driver) {
    driver->received_ns = uv_hrtime();
    driver->gathering.counted += cairn_udp_port_take(driver->port, RECEIVE_MAX, give, driver);
}

// After an error of the socket libuv stops the poll handle, so it is started again. recvmmsg
// returns the error and clears it.
static void on_receive(uv_poll_t *poll, int status, int events) {
    (void)events;
    cairn_uv_driver *driver = poll->data;
    CAIRN_ASSERT(driver->run.server != NULL);
    cairn_udp_port_set_readable(driver->port, (uint32_t)(poll - driver->receive));
    driver->arrived = true;
    if (status < 0) {
        driver->statistics.receive_errors += 1;
        uv_poll_start(poll, UV_READABLE, on_receive);
    }
}

static void send_stream(
    cairn_uv_driver *driver, const cairn_address *to, const uint8_t *bytes, size_t size) {
    if (driver->run.send_stream != NULL) {
        driver->run.send_stream(driver->run.user, to, bytes, size);
    }
}

// Takes datagrams from the server until the batch is full. Those to streams leave at once, and
// count all the same: nobody waits until all of them are sent. False: there are no more.
static bool fill_batch(cairn_uv_driver *driver, uint64_t now_ns) {
    for (uint32_t i = 0; i < CAIRN_UDP_BATCH_MAX; ++i) {
        cairn_address to;
        uint8_t *room = cairn_udp_port_room(driver->port);
        CAIRN_ASSERT(room != NULL);
        const size_t size = cairn_server_send(driver->run.server, now_ns, &to, room);
        if (size == 0) {
            return false;
        }
        if (to.family == CAIRN_ADDRESS_STREAM) {
            send_stream(driver, &to, room, size);
        } else {
            cairn_udp_port_add(driver->port, &to, size);
        }
        driver->filled += size;
    }
    return true;
}

// Some batches. The rest follows when the loop comes back.
static void send_due(cairn_uv_driver *driver) {
    const uint64_t now_ns = uv_hrtime();
    if (now_ns < driver->send_again_ns) {
        return;
    }
    driver->send_again_ns = 0;
    driver->pauses = false;
    driver->filled = 0;
    if (!cairn_udp_port_flush(driver->port)) {
        driver->send_again_ns = now_ns + SEND_WAIT_NS;
        return;
    }
    bool more = true;
    for (uint32_t i = 0; i < SEND_BATCHES_MAX && driver->filled < SEND_BYTES_MAX && more; ++i) {
        more = fill_batch(driver, now_ns);
        if (!cairn_udp_port_flush(driver->port)) {
            driver->send_again_ns = now_ns + SEND_WAIT_NS;
            return;
        }
    }
    driver->pauses = more;
    driver->send_again_ns = more ? uv_hrtime() + SEND_PAUSE_NS : 0;
}

static void on_at_once(uv_idle_t *idle) {
    (void)idle; // a loop with a started idle handle does not wait
}

// Does not set the timer again to the same time: that costs as much as sending several datagrams.
static void arm_timer(cairn_uv_driver *driver, uint64_t deadline_ns) {
    if (deadline_ns == driver->armed_ns) {
        return;
    }
    driver->armed_ns = deadline_ns;
    struct itimerspec when = {0};
    if (deadline_ns != UINT64_MAX) {
        when.it_value.tv_sec = (time_t)(deadline_ns / CAIRN_NS_PER_S);
        when.it_value.tv_nsec = (long)(deadline_ns % CAIRN_NS_PER_S);
    }
    int result = timerfd_settime(driver->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    CAIRN_ASSERT(result == 0);
}

// The tick runs in the check phase, after the datagrams of this loop iteration were received.
static void on_tick(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    cairn_uv_driver *driver = poll->data;
    uint64_t expirations;
    if (read(driver->timer_fd, &expirations, sizeof expirations) == sizeof expirations) {
        driver->armed_ns = 0;
        driver->hurries = true;
    }
}

// Sleeps for this long, or until a task is done.
static void sleep_for(cairn_uv_driver *driver, uint64_t sleep_ns) {
    uv_mutex_lock(&driver->done_mutex);
    if (driver->done.first == NULL) {
        uv_cond_timedwait(&driver->done_changed, &driver->done_mutex, sleep_ns);
    }
    uv_mutex_unlock(&driver->done_mutex);
}

// If datagrams arrive fast, sleeps for a moment after the first ones, to receive more at once.
static void gather(cairn_uv_driver *driver) {
    const uint64_t now_ns = uv_hrtime();
    const uint64_t sleep_ns =
        cairn_gathering_sleep_ns(&driver->gathering, now_ns, driver->armed_ns);
    if (sleep_ns > 0 && driver->arrived && !driver->hurries) {
        sleep_for(driver, sleep_ns);
    }
    driver->arrived = false;
    driver->hurries = false;
}

// Waits for what is due next. While datagrams wait to be sent, a tick is late by this wait at most.
static void rest(cairn_uv_driver *driver) {
    const bool more = cairn_udp_port_has_more(driver->port);
    const bool waits = driver->send_again_ns != 0;
    const uint64_t deadline_ns =
        waits ? driver->send_again_ns : cairn_server_deadline_ns(driver->run.server);
    if (!more && deadline_ns != 0 && !(waits && driver->pauses)) {
        uv_idle_stop(&driver->at_once);
        arm_timer(driver, deadline_ns);
        return;
    }
    uv_idle_start(&driver->at_once, on_at_once);
    driver->hurries = true;
    const uint64_t now_ns = uv_hrtime();
    if (!more && now_ns < deadline_ns) {
        sleep_for(driver, deadline_ns - now_ns);
    }
}

static void tell_clients(cairn_uv_driver *driver) {
    cairn_address clients[CAIRN_CLIENTS_MAX];
    const uint64_t changes = cairn_server_address_changes(driver->run.server);
    const uint64_t now_ns = uv_hrtime();
    if (changes != driver->clients_told && now_ns - driver->clients_told_ns >= TELL_CLIENTS_NS) {
        driver->clients_told = changes;
        driver->clients_told_ns = now_ns;
        cairn_udp_port_set_clients(
            driver->port, clients, cairn_server_addresses(driver->run.server, clients));
    }
}

static void on_check(uv_check_t *check) {
    cairn_uv_driver *driver = check->data;
    gather(driver);
    receive(driver);
    cairn_server_advance(driver->run.server, uv_hrtime());
    send_due(driver);
    tell_clients(driver);
    if (driver->run.on_turn != NULL) {
        driver->run.on_turn(driver->run.user);
    }
    if (driver->send_again_ns == 0 && cairn_server_drained(driver->run.server)) {
        uv_stop(&driver->loop);
        return;
    }
    rest(driver);
}

static void append_work(work_list *list, work *added) {
    added->next = NULL;
    if (list->last == NULL) {
        list->first = added;
    } else {
        list->last->next = added;
    }
    list->last = added;
}

static work *take_work(work_list *list) {
    work *taken = list->first;
    list->first = taken == NULL ? NULL : taken->next;
    list->last = list->first == NULL ? NULL : list->last;
    return taken;
}

static void run_work(void *argument) {
    lane *own = argument;
    cairn_uv_driver *driver = own->driver;
    if (own == &driver->disk) { // of this thread alone: Linux has a niceness for each
        (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + TASK_NICENESS);
    }
    uv_mutex_lock(&own->mutex);
    for (;;) {
        work *taken = take_work(&own->waiting);
        if (taken == NULL && own->ending) {
            break;
        }
        if (taken == NULL) {
            own->idle += 1;
            uv_cond_wait(&own->changed, &own->mutex);
            own->idle -= 1;
            continue;
        }
        own->waiting_count -= 1;
        uv_mutex_unlock(&own->mutex);
        if (taken->job != NULL) {
            cairn_server_job_run(taken->job);
        } else {
            cairn_server_task_run(taken->task);
        }
        uv_mutex_lock(&driver->done_mutex);
        append_work(&driver->done, taken);
        uv_cond_signal(&driver->done_changed);
        uv_mutex_unlock(&driver->done_mutex);
        uv_async_send(&driver->ready);
        uv_mutex_lock(&own->mutex);
    }
    uv_mutex_unlock(&own->mutex);
}

// The check phase of this loop iteration follows; it advances the server and sends.
static void on_ready(uv_async_t *async) {
    cairn_uv_driver *driver = async->data;
    driver->arrived = true; // at a thread of a socket; without datagrams it has no effect
    for (;;) {
        uv_mutex_lock(&driver->done_mutex);
        work *done = take_work(&driver->done);
        uv_mutex_unlock(&driver->done_mutex);
        if (done == NULL) {
            return;
        }
        driver->hurries = true;
        const work copy = *done;
        free(done);
        if (copy.job != NULL) {
            cairn_server_job_done(driver->run.server, uv_hrtime(), copy.job);
        } else {
            cairn_server_task_done(driver->run.server, uv_hrtime(), copy.task);
        }
    }
}

static int start_thread(lane *own) {
    CAIRN_ASSERT(own->thread_count < own->threads_max);
    const int code = uv_thread_create(&own->threads[own->thread_count], run_work, own);
    own->thread_count += code == 0 ? 1 : 0;
    return code;
}

// False: there is no thread, or no memory.
static bool hand_over(cairn_uv_driver *driver, lane *to, const work *given) {
    work *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        driver->statistics.handovers_failed += 1;
        return false;
    }
    *copy = *given;
    uv_mutex_lock(&to->mutex);
    const bool another = to->waiting_count >= to->idle && to->thread_count < to->threads_max;
    if (another && start_thread(to) != 0) {
        driver->statistics.threads_failed += 1;
    }
    const bool taken = to->thread_count > 0;
    if (taken) {
        append_work(&to->waiting, copy);
        to->waiting_count += 1;
        uv_cond_signal(&to->changed);
    }
    uv_mutex_unlock(&to->mutex);
    if (!taken) {
        free(copy);
        driver->statistics.handovers_failed += 1;
    }
    return taken;
}

bool cairn_uv_driver_run_job(cairn_uv_driver *driver, cairn_server_job *job) {
    return hand_over(driver, &driver->jobs, &(work){.job = job});
}

bool cairn_uv_driver_run_task(cairn_uv_driver *driver, cairn_server_task *task) {
    return hand_over(driver, &driver->disk, &(work){.task = task});
}

static void on_end(uv_timer_t *timer) {
    cairn_uv_driver *driver = timer->data;
    cairn_server_drain(driver->run.server, uv_hrtime());
    // Not in the next check phase, which comes only after a datagram or a deadline.
    on_check(&driver->check);
}

static void on_leaving(uv_timer_t *timer) {
    cairn_uv_driver *driver = timer->data;
    cairn_server_statistics now;
    cairn_server_statistics_read(driver->run.server, &now);
    if (now.clients == 0 || uv_hrtime() >= driver->leave_ns) {
        uv_timer_stop(timer);
        on_end(timer);
    }
}

static void announce_end(cairn_uv_driver *driver) {
    char reason[64];
    snprintf(reason, sizeof reason, "the server ends in %u s", (unsigned)driver->run.drain_s);
    const uint64_t now_ns = uv_hrtime();
    driver->leave_ns = now_ns + driver->run.drain_s * CAIRN_NS_PER_S;
    cairn_server_announce_end(driver->run.server, now_ns, reason);
    uv_timer_start(&driver->end, on_leaving, LEAVE_LOOK_MS, LEAVE_LOOK_MS);
    on_check(&driver->check);
}

static void on_signal(uv_signal_t *handle, int number) {
    (void)number;
    cairn_uv_driver *driver = handle->data;
    if (driver->run.drain_s > 0 && driver->leave_ns == 0) {
        announce_end(driver);
        return;
    }
    // The next one ends the process.
    uv_signal_stop(&driver->sigterm);
    uv_signal_stop(&driver->sigint);
    uv_signal_stop(&driver->sighup);
    on_end(&driver->end);
}

static void on_asked_to_drain(uv_timer_t *timer) {
    cairn_uv_driver *driver = timer->data;
    on_signal(&driver->sigterm, SIGTERM);
}

void cairn_uv_driver_drain(cairn_uv_driver *driver) {
    if (driver->leave_ns == 0 && !driver->asked_to_drain) {
        driver->asked_to_drain = true;
        uv_timer_start(&driver->end, on_asked_to_drain, DRAIN_MS, 0);
    }
}

static void on_hangup(uv_signal_t *handle, int number) {
    const cairn_uv_driver *driver = handle->data;
    if (driver->run.on_reload == NULL) {
        on_signal(handle, number);
    } else {
        driver->run.on_reload(driver->run.user);
    }
}

static void on_beat(uv_timer_t *timer) {
    cairn_uv_driver *driver = timer->data;
    driver->run.on_beat(driver->run.user);
}

static void on_stats(uv_timer_t *timer) {
    cairn_uv_driver *driver = timer->data;
    driver->run.on_stats(driver->run.user);
}

static bool set_error(char *error, const char *what, int code) {
    snprintf(error, CAIRN_UV_ERROR_SIZE, "%s: %s", what, uv_strerror(code));
    return false;
}

// Of a thread of a socket.
static void on_received(void *user) {
    cairn_uv_driver *driver = user;
    uv_async_send(&driver->ready);
}

static bool open_port(cairn_uv_driver *driver, cairn_udp_port_config config, char *error) {
    config.wake = on_received;
    config.user = driver;
    if (!cairn_udp_port_open(&config, &driver->port, error)) {
        return false;
    }
    int fds[CAIRN_UDP_POLLED_MAX];
    const uint32_t count = cairn_udp_port_polled(driver->port, fds);
    for (uint32_t i = 0; i < count; ++i) {
        const int code = uv_poll_init(&driver->loop, &driver->receive[i], fds[i]);
        if (code != 0) {
            return set_error(error, "poll", code);
        }
        driver->receive[i].data = driver;
        driver->receive_count += 1;
    }
    return true;
}

static bool open_handles(cairn_uv_driver *driver, char *error) {
    driver->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (driver->timer_fd < 0) {
        return set_error(error, "timerfd_create", -errno);
    }
    int code = uv_poll_init(&driver->loop, &driver->tick, driver->timer_fd);
    if (code != 0) {
        return set_error(error, "poll", code);
    }
    code = uv_async_init(&driver->loop, &driver->ready, on_ready);
    if (code != 0) {
        return set_error(error, "eventfd", code);
    }
    uv_check_init(&driver->loop, &driver->check);
    uv_idle_init(&driver->loop, &driver->at_once);
    uv_signal_init(&driver->loop, &driver->sigint);
    uv_signal_init(&driver->loop, &driver->sigterm);
    uv_signal_init(&driver->loop, &driver->sighup);
    uv_timer_init(&driver->loop, &driver->end);
    uv_timer_init(&driver->loop, &driver->stats);
    uv_timer_init(&driver->loop, &driver->beat);
    driver->tick.data = driver;
    driver->check.data = driver;
    driver->sigint.data = driver;
    driver->sigterm.data = driver;
    driver->sighup.data = driver;
    driver->ready.data = driver;
    driver->end.data = driver;
    driver->stats.data = driver;
    driver->beat.data = driver;
    return true;
}

static void create_lane(cairn_uv_driver *driver, lane *own, uint32_t threads_max) {
    own->driver = driver;
    own->threads_max = threads_max;
    int code = uv_mutex_init(&own->mutex);
    CAIRN_ASSERT(code == 0);
    code = uv_cond_init(&own->changed);
    CAIRN_ASSERT(code == 0);
}

static void destroy_lane(lane *own) {
    uv_mutex_lock(&own->mutex);
    own->ending = true;
    uv_cond_broadcast(&own->changed);
    uv_mutex_unlock(&own->mutex);
    for (uint32_t i = 0; i < own->thread_count; ++i) {
        uv_thread_join(&own->threads[i]);
    }
    CAIRN_ASSERT(own->waiting.first == NULL);
    uv_cond_destroy(&own->changed);
    uv_mutex_destroy(&own->mutex);
}

// The name is libuv's, for those who set it.
static uint32_t job_threads_max(void) {
    const char *text = getenv("UV_THREADPOOL_SIZE");
    const long count = text == NULL ? JOB_THREADS_DEFAULT : strtol(text, NULL, 10);
    return count < 1 ? 1 : count > JOB_THREADS_MAX ? JOB_THREADS_MAX : (uint32_t)count;
}

// The threads of jobs are started when there are jobs; a disk thread that cannot be started would
// leave the disk to the loop.
static bool open_lanes(cairn_uv_driver *driver, char *error) {
    create_lane(driver, &driver->jobs, job_threads_max());
    create_lane(driver, &driver->disk, 1);
    int code = uv_mutex_init(&driver->done_mutex);
    CAIRN_ASSERT(code == 0);
    code = uv_cond_init(&driver->done_changed);
    CAIRN_ASSERT(code == 0);
    driver->has_lanes = true;
    const int refused = start_thread(&driver->disk);
    return refused == 0 || set_error(error, "a thread for files", refused);
}

// libuv stops the process if it cannot open the pipe of its signals: so descriptors for it are
// tried before.
static int try_descriptors(void) {
    int opened[LOOP_DESCRIPTORS];
    uint32_t count = 0;
    int refused = 0;
    while (count < LOOP_DESCRIPTORS && refused == 0) {
        opened[count] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened[count] < 0) {
            refused = -errno;
        } else {
            count++;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        close(opened[i]);
    }
    return refused;
}

static cairn_status open_driver(
    const cairn_udp_port_config *port, cairn_uv_driver **out, char *error) {
    *out = NULL;
    error[0] = '\0';
    cairn_uv_driver *driver = calloc(1, sizeof *driver);
    int refused = driver == NULL ? UV_ENOMEM : try_descriptors();
    refused = refused == 0 ? uv_loop_init(&driver->loop) : refused;
    if (refused != 0) {
        free(driver);
        cairn_udp_port_close_sockets(port);
        set_error(error, "the event loop cannot be started", refused);
        return refused == UV_ENOMEM ? CAIRN_OUT_OF_MEMORY : CAIRN_IO_FAILED;
    }
    driver->timer_fd = -1;
    if (!open_port(driver, *port, error) || !open_handles(driver, error) ||
        !open_lanes(driver, error)) {
        cairn_uv_driver_close(driver);
        return CAIRN_IO_FAILED;
    }
    *out = driver;
    return CAIRN_OK;
}

cairn_status cairn_uv_driver_open_wide(const cairn_address *listen, uint32_t sockets,
    cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]) {
    const cairn_udp_port_config port = {.listen = listen, .socket_count = sockets};
    return open_driver(&port, out, error);
}

cairn_status cairn_uv_driver_open(
    const cairn_address *listen, cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]) {
    return cairn_uv_driver_open_wide(listen, 1, out, error);
}

cairn_status cairn_uv_driver_adopt(
    const cairn_uv_sockets *sockets, cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]) {
    const cairn_udp_port_config port = {.sockets = sockets};
    return open_driver(&port, out, error);
}

cairn_uv_sockets cairn_uv_driver_sockets(const cairn_uv_driver *driver) {
    return cairn_udp_port_sockets(driver->port);
}

bool cairn_uv_driver_is_sent(const cairn_uv_driver *driver) {
    return driver->send_again_ns == 0;
}

bool cairn_uv_driver_hold(cairn_uv_driver *driver) {
    const struct timespec moment = {.tv_nsec = HOLD_LOOK_NS};
    const uint64_t end_ns = uv_hrtime() + HOLD_NS;
    cairn_udp_port_set_receiving(driver->port, false);
    do {
        while (cairn_udp_port_has_more(driver->port)) {
            receive(driver);
        }
        if (cairn_udp_port_is_still(driver->port)) {
            return driver->send_again_ns == 0;
        }
        nanosleep(&moment, NULL);
    } while (uv_hrtime() < end_ns);
    return false;
}

void cairn_uv_driver_go_on(cairn_uv_driver *driver) {
    cairn_udp_port_set_receiving(driver->port, true);
}

static void stop_receiving(cairn_uv_driver *driver) {
    cairn_udp_port_set_receiving(driver->port, false);
    for (uint32_t i = 0; i < driver->receive_count; ++i) {
        uv_poll_stop(&driver->receive[i]);
    }
}

void cairn_uv_driver_leave(cairn_uv_driver *driver) {
    stop_receiving(driver);
    uv_signal_stop(&driver->sigterm);
    uv_signal_stop(&driver->sigint);
    uv_signal_stop(&driver->sighup);
}

static void close_handle(uv_handle_t *handle, void *user) {
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

void cairn_uv_driver_close(cairn_uv_driver *driver) {
    if (driver == NULL) {
        return;
    }
    if (driver->has_lanes) {
        destroy_lane(&driver->jobs);
        destroy_lane(&driver->disk);
        uv_mutex_destroy(&driver->done_mutex);
        uv_cond_destroy(&driver->done_changed);
        for (work *done; (done = take_work(&driver->done)) != NULL;) {
            free(done);
        }
    }
    // Threads of sockets end before the handle that they wake.
    if (driver->port != NULL) {
        stop_receiving(driver);
        cairn_udp_port_close(driver->port);
    }
    uv_walk(&driver->loop, close_handle, NULL);
    uv_run(&driver->loop, UV_RUN_DEFAULT);
    int code = uv_loop_close(&driver->loop);
    CAIRN_ASSERT(code == 0);
    if (driver->timer_fd >= 0) {
        close(driver->timer_fd);
    }
    free(driver);
}

cairn_address cairn_uv_driver_address(const cairn_uv_driver *driver) {
    return cairn_udp_port_address(driver->port);
}

struct uv_loop_s *cairn_uv_driver_loop(cairn_uv_driver *driver) {
    return &driver->loop;
}

void cairn_uv_driver_set_times(
    cairn_uv_driver *driver, uint32_t stats_interval_s, uint32_t drain_s) {
    const uint64_t interval_ms = (uint64_t)stats_interval_s * 1000;
    driver->run.drain_s = drain_s;
    driver->run.stats_interval_s = stats_interval_s;
    uv_timer_stop(&driver->stats);
    if (interval_ms > 0 && driver->run.on_stats != NULL) {
        uv_timer_start(&driver->stats, on_stats, interval_ms, interval_ms);
    }
}

void cairn_uv_driver_catch_signals(cairn_uv_driver *driver) {
    signal(SIGPIPE, SIG_IGN);
    uv_signal_start(&driver->sigint, on_signal, SIGINT);
    uv_signal_start(&driver->sigterm, on_signal, SIGTERM);
    uv_signal_start(&driver->sighup, on_hangup, SIGHUP);
}

void cairn_uv_driver_run(cairn_uv_driver *driver, const cairn_uv_run *run) {
    driver->run = *run;
    driver->armed_ns = 0;
    driver->clients_told = UINT64_MAX;
    cairn_uv_driver_catch_signals(driver);
    uv_check_start(&driver->check, on_check);
    uv_poll_start(&driver->tick, UV_READABLE, on_tick);
    for (uint32_t i = 0; i < driver->receive_count; ++i) {
        uv_poll_start(&driver->receive[i], UV_READABLE, on_receive);
    }
    cairn_udp_port_set_receiving(driver->port, true);
    uv_update_time(&driver->loop);
    if (run->seconds > 0) {
        uv_timer_start(&driver->end, on_end, (uint64_t)run->seconds * 1000, 0);
    }
    cairn_uv_driver_set_times(driver, run->stats_interval_s, run->drain_s);
    if (run->beat_ms > 0 && run->on_beat != NULL) {
        uv_timer_start(&driver->beat, on_beat, run->beat_ms, run->beat_ms);
    }
    uv_idle_start(&driver->at_once, on_at_once);
    uv_run(&driver->loop, UV_RUN_DEFAULT);
}

cairn_uv_statistics cairn_uv_driver_statistics(const cairn_uv_driver *driver) {
    cairn_uv_statistics statistics = driver->statistics;
    cairn_udp_port_statistics(driver->port, &statistics);
    return statistics;
}
