// SPDX-License-Identifier: MIT
#include "bench/chart.h"

#include <stdio.h>

// Lengths in pixels.
#define WIDTH 760
#define LEFT 130
#define BAR_WIDTH 480
#define HEAD 78
#define LEGEND_LINE 20
#define BAR 16
#define BAR_GAP 2
#define GROUP_GAP 14
#define FOOT 16

// Told apart by people with any colour vision (Okabe and Ito).
static const char *const colours[BENCH_CHART_SERIES_MAX] = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#332288"};

static void text(FILE *file, double x, double y, const char *style, const char *words) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    for (const char *at = words; *at != '\0'; ++at) {
        switch (*at) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        default:
            fputc(*at, file);
        }
    }
    fputs("</text>\n", file);
}

static double group_height(const bench_chart *chart) {
    return (double)(chart->series_count * (BAR + BAR_GAP) + GROUP_GAP);
}

static double head_height(const bench_chart *chart) {
    return (double)(HEAD + LEGEND_LINE * ((chart->series_count + 3) / 4));
}

static void write_head(FILE *file, const bench_chart *chart) {
    const double height =
        head_height(chart) + group_height(chart) * (double)chart->group_count + FOOT;
    fprintf(file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
        "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        WIDTH, height, WIDTH, height);
    text(file, 16, 28, "font-size=\"17\" font-weight=\"bold\" fill=\"#222222\"", chart->title);
    text(file, 16, 48, "fill=\"#555555\"", chart->note);
    for (uint32_t i = 0; i < chart->series_count; ++i) {
        const double x = 16.0 + 180.0 * (double)(i % 4);
        const double y = (double)(58 + LEGEND_LINE * (i / 4));
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
            y, colours[i]);
        text(file, x + 18.0, y + 10.0, "fill=\"#222222\"", chart->series[i]);
    }
}

static double largest(const bench_chart *chart, uint32_t group) {
    double most = 0.0;
    for (uint32_t i = 0; i < chart->series_count; ++i) {
        const bench_bar *bar = &chart->bars[group * chart->series_count + i];
        most = bar->value > 0.0 && bar->high > most ? bar->high : most;
    }
    return most > 0.0 ? most : 1.0;
}

// The line from the least to the greatest of the runs.
static void write_range(FILE *file, const bench_bar *bar, double scale, double y) {
    if (bar->low < bar->high) {
        fprintf(file, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#222222\" stroke-width=\"1.5\"/>\n",
            LEFT + bar->low * scale, y + BAR / 2.0, LEFT + bar->high * scale);
    }
}

static void write_bar(
    FILE *file, const bench_chart *chart, const bench_bar *bar, double scale, double y) {
    const size_t series = (size_t)(bar - chart->bars) % chart->series_count;
    char label[64];
    if (bar->value <= 0.0) {
        text(file, LEFT + 6.0, y + 12.0, "fill=\"#999999\"", "not run");
        return;
    }
    fprintf(file, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", LEFT, y,
        bar->value * scale, BAR, colours[series]);
    write_range(file, bar, scale, y);
    snprintf(label, sizeof label, "%.3g %s", bar->value, chart->unit);
    const double end = bar->high > bar->value ? bar->high : bar->value;
    text(file, LEFT + end * scale + 6.0, y + 12.0, "fill=\"#222222\"", label);
}

static void write_group(FILE *file, const bench_chart *chart, uint32_t group) {
    const double top = head_height(chart) + group_height(chart) * (double)group;
    const double middle = (group_height(chart) - GROUP_GAP) / 2.0;
    const double scale = BAR_WIDTH / largest(chart, group);
    text(file, LEFT - 10.0, top + middle + 4.0, "text-anchor=\"end\" fill=\"#222222\"",
        chart->groups[group]);
    for (uint32_t i = 0; i < chart->series_count; ++i) {
        write_bar(file, chart, &chart->bars[group * chart->series_count + i], scale,
            top + (double)(i * (BAR + BAR_GAP)));
    }
    fprintf(file, "<path d=\"M%d %.1fV%.1f\" stroke=\"#888888\"/>\n", LEFT, top - 3.0,
        top + 2.0 * middle + 1.0);
}

bool bench_chart_write(const bench_chart *chart, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    write_head(file, chart);
    for (uint32_t i = 0; i < chart->group_count; ++i) {
        write_group(file, chart, i);
    }
    fputs("</svg>\n", file);
    const bool ok = ferror(file) == 0;
    return fclose(file) == 0 && ok;
}
