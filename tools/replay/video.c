// SPDX-License-Identifier: MIT
#include "tools/replay/video.h"

#include <stdbool.h>
#include <stdlib.h>
#include <vpx/vp8cx.h>
#include <vpx/vpx_encoder.h>

#include "tools/replay/webm.h"

#define QUALITY 24 // 0 best .. 63
#define EFFORT 5   // 0 most .. 8
#define SEEK_S 2   // between pictures that need no other
#define WORK VPX_DL_GOOD_QUALITY

struct cairn_video {
    vpx_codec_ctx_t encoder;
    vpx_image_t *image; // owned by libvpx
    bool has_encoder;
    vpx_codec_pts_t next;
    cairn_webm webm;
};

static bool configure(cairn_video *video) {
    const cairn_webm *webm = &video->webm;
    vpx_codec_enc_cfg_t config;
    if (vpx_codec_enc_config_default(vpx_codec_vp9_cx(), &config, 0) != VPX_CODEC_OK) {
        return false;
    }
    config.g_w = webm->width;
    config.g_h = webm->height;
    config.g_timebase = (vpx_rational_t){.num = 1, .den = (int)webm->pictures_hz};
    config.g_threads = 1;
    config.g_lag_in_frames = 0;
    config.rc_end_usage = VPX_Q;
    config.kf_max_dist = SEEK_S * webm->pictures_hz;
    vpx_codec_ctx_t *encoder = &video->encoder;
    video->has_encoder =
        vpx_codec_enc_init(encoder, vpx_codec_vp9_cx(), &config, 0) == VPX_CODEC_OK;
    return video->has_encoder &&
           vpx_codec_control(encoder, VP8E_SET_CPUUSED, EFFORT) == VPX_CODEC_OK &&
           vpx_codec_control(encoder, VP8E_SET_CQ_LEVEL, QUALITY) == VPX_CODEC_OK &&
           vpx_codec_control(encoder, VP9E_SET_COLOR_SPACE, VPX_CS_BT_709) == VPX_CODEC_OK;
}

const char *cairn_video_create(
    uint32_t width, uint32_t height, uint32_t pictures_hz, cairn_video **out) {
    cairn_video *video = *out = calloc(1, sizeof *video);
    if (video == NULL) {
        return "out of memory";
    }
    video->webm = (cairn_webm){.width = width, .height = height, .pictures_hz = pictures_hz};
    video->image = vpx_img_alloc(NULL, VPX_IMG_FMT_I420, width, height, 16);
    return video->image != NULL && configure(video)
               ? NULL
               : "the encoder refuses this size, or memory is short";
}

void cairn_video_destroy(cairn_video *video) {
    if (video != NULL) {
        if (video->has_encoder) {
            vpx_codec_destroy(&video->encoder);
        }
        vpx_img_free(video->image);
        cairn_webm_destroy(&video->webm);
        free(video);
    }
}

// Red, green and blue, summed over `1 << shift` pixels, to what BT.709 makes of them, in 256ths.
static uint8_t weigh(const int sum[3], int shift, int red, int green, int blue, int offset) {
    const int whole = red * sum[0] + green * sum[1] + blue * sum[2];
    return (uint8_t)(offset + (whole + (128 << shift) + (1 << 20)) / (256 << shift) -
                     (1 << 20) / (256 << shift));
}

static void convert_light(vpx_image_t *image, const uint8_t *pixels) {
    for (uint32_t y = 0; y < image->d_h; ++y) {
        uint8_t *light = image->planes[VPX_PLANE_Y] + (ptrdiff_t)y * image->stride[VPX_PLANE_Y];
        for (uint32_t x = 0; x < image->d_w; ++x, pixels += 3) {
            const int sum[3] = {pixels[0], pixels[1], pixels[2]};
            light[x] = weigh(sum, 0, 47, 157, 16, 16);
        }
    }
}

// Colours are held for two by two pixels; at an odd edge the last ones count twice.
static void convert_colour(vpx_image_t *image, const uint8_t *pixels) {
    const uint32_t width = image->d_w, height = image->d_h;
    for (uint32_t y = 0; y < (height + 1) / 2; ++y) {
        uint8_t *u = image->planes[VPX_PLANE_U] + (ptrdiff_t)y * image->stride[VPX_PLANE_U];
        uint8_t *v = image->planes[VPX_PLANE_V] + (ptrdiff_t)y * image->stride[VPX_PLANE_V];
        for (uint32_t x = 0; x < (width + 1) / 2; ++x) {
            int sum[3] = {0, 0, 0};
            for (uint32_t i = 0; i < 4; ++i) {
                const uint32_t row = 2 * y + i / 2, column = 2 * x + i % 2;
                const size_t at = (size_t)(row < height ? row : height - 1) * width +
                                  (column < width ? column : width - 1);
                for (size_t k = 0; k < 3; ++k) {
                    sum[k] += pixels[3 * at + k];
                }
            }
            u[x] = weigh(sum, 2, -26, -86, 112, 128);
            v[x] = weigh(sum, 2, 112, -102, -10, 128);
        }
    }
}

// `image` NULL: after the last one. Takes what the encoder has ready.
static const char *encode(cairn_video *video, const vpx_image_t *image) {
    if (vpx_codec_encode(&video->encoder, image, video->next++, 1, 0, WORK) != VPX_CODEC_OK) {
        return "a picture cannot be encoded";
    }
    vpx_codec_iter_t at = NULL;
    const vpx_codec_cx_pkt_t *packet;
    while ((packet = vpx_codec_get_cx_data(&video->encoder, &at)) != NULL) {
        if (packet->kind == VPX_CODEC_CX_FRAME_PKT) {
            cairn_webm_add(&video->webm, packet->data.frame.buf, packet->data.frame.sz,
                (packet->data.frame.flags & VPX_FRAME_IS_KEY) != 0);
        }
    }
    return NULL;
}

const char *cairn_video_add(cairn_video *video, const uint8_t *pixels) {
    convert_light(video->image, pixels);
    convert_colour(video->image, pixels);
    return encode(video, video->image);
}

const char *cairn_video_write(cairn_video *video, FILE *out) {
    const char *why = encode(video, NULL);
    return why == NULL ? cairn_webm_write(&video->webm, out) : why;
}
