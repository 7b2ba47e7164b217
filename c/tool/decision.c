// decision: one JSON and one table for checks of policies and of the command line.

#include "decision.h"

#include <stdio.h>
#include <stdlib.h>

#include <weir/duration.h>

#include "text.h"

#define KEY_WIDTH 48

json_t *decision_json(const weir_decision *d)
{
    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I}", "allowed", d->allowed, "limit",
                     (json_int_t)d->limit, "remaining", (json_int_t)d->remaining, "retry_after_us",
                     (json_int_t)d->retry_after_us, "reset_after_us", (json_int_t)d->reset_after_us,
                     "delay_us", (json_int_t)d->delay_us);
}

static json_t *key_json(const weir_check *check)
{
    char *text = malloc(4 * check->key_size + 1);
    json_t *key =
        text ? json_string(text_escape(check->key, check->key_size, text, 4 * check->key_size + 1))
             : json_null();
    free(text);
    return key;
}

json_t *decision_row_json(const weir_check *check, const weir_decision *row)
{
    json_t *whole = decision_json(row);
    json_object_set_new(whole, "name", json_string(check->limit->name));
    json_object_set_new(whole, "algorithm",
                        json_string(weir_algorithm_name(check->limit->algorithm)));
    json_object_set_new(whole, "key", key_json(check));
    json_object_set_new(whole, "cost", json_integer(check->cost));
    return whole;
}

static void add_number(table *t, int64_t number)
{
    char text[TEXT_COUNT];
    table_cell(t, number < 0 ? "-" : text_count((uint64_t)number, text));
}

static void add_duration(table *t, int64_t duration_us)
{
    char text[WEIR_DURATION_TEXT];
    table_cell(t, duration_us == WEIR_NEVER ? "never" : weir_duration_format(duration_us, text));
}

void decision_table_open(table *t)
{
    static const char *const names[] = {"limit",       "algorithm", "key",       "cost",
                                        "verdict",     "of",        "remaining", "retry after",
                                        "reset after", "delay"};
    table_open(t, "lllrlrrrrr");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        table_cell(t, names[i]);
    }
}

void decision_table_row(table *t, const weir_check *check, bool shadow, const weir_decision *row)
{
    char name[WEIR_NAME_MAX + 16], key[KEY_WIDTH];
    snprintf(name, sizeof name, "%s%s", check->limit->name, shadow ? " (shadow)" : "");
    table_cell(t, name);
    table_cell(t, weir_algorithm_name(check->limit->algorithm));
    table_cell(t, text_escape(check->key, check->key_size, key, sizeof key));
    add_number(t, check->limit->algorithm == WEIR_CONCURRENCY ? 1 : check->cost);
    table_cell(t, row->allowed ? "allowed" : "refused");
    add_number(t, row->limit);
    add_number(t, row->remaining);
    add_duration(t, row->retry_after_us);
    add_duration(t, row->reset_after_us);
    add_duration(t, row->delay_us);
}

void decision_print(const char *name, const weir_decision *d)
{
    char text[WEIR_DURATION_TEXT];
    if (!d->allowed && d->retry_after_us == WEIR_NEVER) {
        printf("refused by %s, however long one waits\n", name);
    } else if (!d->allowed) {
        printf("refused by %s; try again in %s\n", name,
               weir_duration_format(d->retry_after_us, text));
    } else if (d->delay_us > 0) {
        printf("allowed, after a wait of %s\n", weir_duration_format(d->delay_us, text));
    } else {
        puts("allowed");
    }
}
