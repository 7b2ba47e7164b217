// table.h: rows of text in columns as wide as their widest cell.

#ifndef WEIR_TOOL_TABLE_H
#define WEIR_TOOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_COLUMNS_MAX 12

typedef struct table {
    const char *align; // one letter a column: l or r
    size_t columns;
    char **cells;
    size_t count;
    bool failed; // there was no memory for a cell
} table;

// `align` has one letter a column, l or r, and is kept.
void table_open(table *t, const char *align);

// Adds the next cell, row by row. The text is copied.
void table_cell(table *t, const char *text);

// Prints all rows to the standard output and closes the table.
void table_print(table *t);

#endif
