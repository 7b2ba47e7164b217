// table: gathers cells, then prints them in line.

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_open(table *t, const char *align)
{
    *t = (table){.align = align, .columns = strlen(align)};
}

void table_cell(table *t, const char *text)
{
    char **cells = realloc(t->cells, (t->count + 1) * sizeof *cells);
    char *copy = strdup(text);
    if (!cells || !copy) {
        t->failed = true;
        t->cells = cells ? cells : t->cells;
        free(copy);
        return;
    }
    t->cells = cells;
    t->cells[t->count++] = copy;
}

static void print_row(const table *t, char *const *row, const size_t *widths)
{
    size_t columns = t->columns;
    while (columns > 0 && row[columns - 1][0] == '\0') {
        columns--;
    }
    for (size_t c = 0; c < columns; c++) {
        int pad = (int)(widths[c] - strlen(row[c]));
        bool right = t->align[c] == 'r', last = c + 1 == columns;
        printf("%s%*s%s", c ? "  " : "", right ? pad : 0, "", row[c]);
        if (!right && !last) {
            printf("%*s", pad, "");
        }
    }
    putchar('\n');
}

void table_print(table *t)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    size_t rows = t->failed ? 0 : t->count / t->columns;
    for (size_t i = 0; i < rows * t->columns; i++) {
        if (strlen(t->cells[i]) > widths[i % t->columns]) {
            widths[i % t->columns] = strlen(t->cells[i]);
        }
    }
    for (size_t r = 0; r < rows; r++) {
        print_row(t, t->cells + r * t->columns, widths);
    }
    for (size_t i = 0; i < t->count; i++) {
        free(t->cells[i]);
    }
    free(t->cells);
    *t = (table){0};
}
