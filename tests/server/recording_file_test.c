// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/recording_file.h"

// A file in memory, as a driver would hold it on disk.
typedef struct file {
    _Alignas(8) uint8_t bytes[512];
    size_t size;
    size_t room; // the disk is full behind this
} file;

static bool take(void *user, const uint8_t *bytes, size_t size) {
    file *f = user;
    if (size > f->room - f->size) {
        return false;
    }
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
    return true;
}

static const char *const payloads[] = {"state", "sixteen bytes...", "x"};
enum { CHUNKS = 3 };

static void record(file *f, size_t room) {
    *f = (file){.room = room};
    cairn_recording_writer writer;
    cairn_recording_begin(&writer, take, f);
    for (uint32_t i = 0; i < CHUNKS; ++i) {
        cairn_recording_append(&writer, i + 1, (const uint8_t *)payloads[i], strlen(payloads[i]));
    }
}

// Reads until something else than a chunk comes; checks each chunk against what was written.
static cairn_recording_step read_all(const uint8_t *bytes, size_t size, uint32_t *chunks) {
    cairn_recording_reader reader = cairn_recording_reader_of(bytes, size);
    cairn_recording_frame frame;
    *chunks = 0;
    cairn_recording_step step;
    while ((step = cairn_recording_next(&reader, &frame)) == CAIRN_RECORDING_CHUNK) {
        assert_int_equal(frame.kind, *chunks + 1);
        assert_int_equal(frame.size, strlen(payloads[*chunks]));
        assert_memory_equal(frame.payload, payloads[*chunks], frame.size);
        assert_int_equal((uintptr_t)frame.payload % 8, 0);
        ++*chunks;
    }
    assert_int_equal(cairn_recording_next(&reader, &frame), step);
    return step;
}

static void what_was_written_is_read(void **state) {
    (void)state;
    file f;
    uint32_t chunks;
    record(&f, sizeof f.bytes);
    assert_int_equal(read_all(f.bytes, f.size, &chunks), CAIRN_RECORDING_FINISHED);
    assert_int_equal(chunks, CHUNKS);
}

static void a_file_cut_anywhere_reads_to_its_last_whole_chunk(void **state) {
    (void)state;
    file f;
    record(&f, sizeof f.bytes);
    const size_t ends[] = {16, 16 + 24, 16 + 24 + 32, 16 + 24 + 32 + 24};
    assert_int_equal(f.size, ends[CHUNKS]);
    for (size_t size = 0; size < f.size; ++size) {
        uint32_t chunks;
        uint32_t whole = 0;
        while (whole < CHUNKS && ends[whole + 1] <= size) {
            ++whole;
        }
        const cairn_recording_step step = read_all(f.bytes, size, &chunks);
        const cairn_recording_step expected = size == 0             ? CAIRN_RECORDING_NOT_ONE
                                              : size == ends[whole] ? CAIRN_RECORDING_FINISHED
                                                                    : CAIRN_RECORDING_CUT;
        assert_int_equal(step, expected);
        assert_int_equal(chunks, whole);
    }
}

static void every_broken_byte_is_noticed(void **state) {
    (void)state;
    file f;
    record(&f, sizeof f.bytes);
    for (size_t at = 0; at < f.size; ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            f.bytes[at] ^= (uint8_t)(1u << bit);
            cairn_recording_reader reader = cairn_recording_reader_of(f.bytes, f.size);
            cairn_recording_frame frame;
            cairn_recording_step step;
            while ((step = cairn_recording_next(&reader, &frame)) == CAIRN_RECORDING_CHUNK) {
                assert_true(frame.offset + CAIRN_RECORDING_FRAME_SIZE <= at || at < frame.offset ||
                            at >= reader.at);
            }
            assert_int_not_equal(step, CAIRN_RECORDING_FINISHED);
            f.bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
}

static void another_version_is_told_from_damage(void **state) {
    (void)state;
    file f;
    uint32_t chunks;
    record(&f, sizeof f.bytes);
    f.bytes[8] = CAIRN_RECORDING_VERSION + 1;
    assert_int_equal(read_all(f.bytes, f.size, &chunks), CAIRN_RECORDING_OTHER_VERSION);
    f.bytes[0] = 'X';
    assert_int_equal(read_all(f.bytes, f.size, &chunks), CAIRN_RECORDING_NOT_ONE);
}

static void a_full_disk_ends_the_recording_but_not_what_it_holds(void **state) {
    (void)state;
    file f;
    uint32_t chunks;
    record(&f, 16 + 24 + 20);
    assert_int_equal(read_all(f.bytes, f.size, &chunks), CAIRN_RECORDING_CUT);
    assert_int_equal(chunks, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_file_cut_anywhere_reads_to_its_last_whole_chunk),
        cmocka_unit_test(every_broken_byte_is_noticed),
        cmocka_unit_test(another_version_is_told_from_damage),
        cmocka_unit_test(a_full_disk_ends_the_recording_but_not_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
