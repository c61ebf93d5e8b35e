// SPDX-License-Identifier: MIT
#include "bench/solvers_chart.h"

#include <math.h>
#include <string.h>

#define PANEL_WIDTH 560.0
#define PANEL_HEIGHT 340.0
#define LEFT 64.0
#define TOP 34.0
#define PLOT_WIDTH 350.0
#define PLOT_HEIGHT 250.0

static const char *const colours[] = {
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf"};
#define COLOUR_COUNT (sizeof colours / sizeof *colours)

// Both axes are logarithmic, from one power of ten to another.
typedef struct axes {
    double x_low, x_high, y_low, y_high; // exponents
    double left, top;
} axes;

static void widen(double value, double *low, double *high) {
    if (value > 0.0) {
        const double exponent = log10(value);
        *low = floor(exponent) < *low ? floor(exponent) : *low;
        *high = ceil(exponent) > *high ? ceil(exponent) : *high;
    }
}

static axes axes_of(const bench_panel *panel, double left, double top) {
    axes a = {.x_low = 99.0, .x_high = -99.0, .y_low = 99.0, .y_high = -99.0};
    for (uint32_t k = 0; k < panel->line_count; ++k) {
        for (uint32_t i = 0; i < panel->lines[k].count; ++i) {
            widen(panel->lines[k].x[i], &a.x_low, &a.x_high);
            // What is below rounding would leave no room for the rest.
            widen(panel->lines[k].y[i] > 1e-12 ? panel->lines[k].y[i] : 0.0, &a.y_low, &a.y_high);
        }
    }
    a.x_high = a.x_high > a.x_low ? a.x_high : a.x_low + 1.0;
    a.y_high = a.y_high > a.y_low ? a.y_high : a.y_low + 1.0;
    a.left = left + LEFT;
    a.top = top + TOP;
    return a;
}

static double x_of(const axes *a, double exponent) {
    return a->left + PLOT_WIDTH * (exponent - a->x_low) / (a->x_high - a->x_low);
}

static double y_of(const axes *a, double exponent) {
    return a->top + PLOT_HEIGHT * (a->y_high - exponent) / (a->y_high - a->y_low);
}

static void write_grid(FILE *out, const bench_panel *panel, const axes *a) {
    for (double x = a->x_low; x <= a->x_high; x += 1.0) {
        fprintf(out,
            "<path d='M%.1f %.1fv%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
            "text-anchor='middle'>%g</text>\n",
            x_of(a, x), a->top, PLOT_HEIGHT, x_of(a, x), a->top + PLOT_HEIGHT + 14.0, pow(10.0, x));
    }
    const double step = a->y_high - a->y_low > 8.0 ? 2.0 : 1.0;
    for (double y = a->y_low; y <= a->y_high; y += step) {
        fprintf(out,
            "<path d='M%.1f %.1fh%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
            "text-anchor='end'>1e%+.0f</text>\n",
            a->left, y_of(a, y), PLOT_WIDTH, a->left - 6.0, y_of(a, y) + 4.0, y);
    }
    fprintf(out, "<text x='%.1f' y='%.1f' font-weight='bold'>%s</text>\n", a->left, a->top - 12.0,
        panel->title);
    fprintf(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n",
        a->left + PLOT_WIDTH / 2.0, a->top + PLOT_HEIGHT + 30.0, panel->x_title);
}

static void write_line(FILE *out, const bench_line *line, uint32_t index, const axes *a) {
    const char *colour = colours[index % COLOUR_COUNT];
    bool pen = false;
    fprintf(out, "<path fill='none' stroke='%s' stroke-width='1.5' d='", colour);
    for (uint32_t i = 0; i < line->count; ++i) {
        if (line->x[i] > 0.0 && line->y[i] > 0.0 && log10(line->y[i]) >= a->y_low) {
            fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(a, log10(line->x[i])),
                y_of(a, log10(line->y[i])));
            pen = true;
        }
    }
    const double y = a->top + 12.0 + 16.0 * (double)index;
    const double x = a->left + PLOT_WIDTH + 10.0;
    fprintf(out,
        "'/>\n<path d='M%.1f %.1fh18' stroke='%s' stroke-width='2'/><text x='%.1f' "
        "y='%.1f'>%s</text>\n",
        x, y - 4.0, colour, x + 24.0, y, line->name);
}

bool bench_solvers_chart(const char *path, const bench_panel *panels, uint32_t count) {
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return false;
    }
    fprintf(out,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
        "font-family='sans-serif' font-size='11'>\n<rect width='100%%' height='100%%' "
        "fill='white'/>\n",
        2.0 * PANEL_WIDTH, PANEL_HEIGHT * (double)((count + 1) / 2));
    for (uint32_t i = 0; i < count; ++i) {
        const axes a =
            axes_of(&panels[i], PANEL_WIDTH * (double)(i % 2), PANEL_HEIGHT * (double)(i / 2));
        write_grid(out, &panels[i], &a);
        for (uint32_t k = 0; k < panels[i].line_count; ++k) {
            write_line(out, &panels[i].lines[k], k, &a);
        }
    }
    fputs("</svg>\n", out);
    const bool whole = ferror(out) == 0;
    return fclose(out) == 0 && whole;
}
