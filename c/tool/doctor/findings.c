// findings: kept in order, for people and for programs.

#include "doctor/findings.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static const char *const levels[] = {"fine", "note", "mend"};

void findings_add(findings *all, finding_level level, const char *about, const char *advice,
                  const char *format, ...)
{
    all->mend += level == FINDING_MEND;
    if (all->count == FINDINGS_MAX) {
        return;
    }
    finding *f = &all->list[all->count++];
    f->level = level;
    f->about = about;
    char text[sizeof f->found];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_escape(text, strlen(text), f->found, sizeof f->found);
    snprintf(f->advice, sizeof f->advice, "%s", advice ? advice : "");
}

void findings_print(const findings *all, const char *address)
{
    printf("redis at %s\n\n", address);
    for (size_t i = 0; i < all->count; i++) {
        const finding *f = &all->list[i];
        printf("%s  %-10s  %s\n", levels[f->level], f->about, f->found);
        if (f->advice[0]) {
            printf("                  to do: %s\n", f->advice);
        }
    }
    printf("\n%s\n", all->mend ? "some of this must be mended" : "it is fit to keep limits");
}

void findings_print_json(const findings *all, const char *address)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const finding *f = &all->list[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s}", "level", levels[f->level], "about",
                                        f->about, "found", f->found, "to_do", f->advice));
    }
    json_t *whole =
        json_pack("{s:s, s:b, s:o}", "address", address, "fit", all->mend == 0, "findings", list);
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
}
