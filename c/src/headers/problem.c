// The body of a refusal: problem details of RFC 9457, with the limits that stand in the way.

#include "headers/told.h"

typedef struct problem {
    const char *type;
    const char *title;
} problem;

// A refusal without a check is the policy's own word, for which there is no type.
static problem problem_of(const weir_headers *out, const told *t)
{
    if (out->status == 503) {
        return (problem){
            "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
            "Temporary Reduced Capacity"};
    }
    if (t->count == 0) {
        return (problem){"about:blank", "Too Many Requests"};
    }
    return (problem){"https://iana.org/assignments/http-problem-types#quota-exceeded",
                     "Quota Exceeded"};
}

static void write_violated(writer *w, const told *t)
{
    const bool is_known = t->decision->source == WEIR_SOURCE_STORE;
    const char *before = "";
    write_text(w, ",\"violated-policies\":[");
    for (size_t i = 0; i < t->count; i++) {
        if (is_known && is_violated(t->checks[i].row)) {
            write_text(w, before);
            write_quoted(w, t->checks[i].check->limit->name);
            before = ",";
        }
    }
    write_text(w, "]");
}

void headers_write_problem(weir_headers *out, writer *w, const told *t)
{
    const problem p = problem_of(out, t);
    const size_t start = w->used;
    write_text(w, "{\"type\":");
    write_quoted(w, p.type);
    write_text(w, ",\"title\":");
    write_quoted(w, p.title);
    write_text(w, ",\"status\":");
    write_whole(w, out->status);
    if (t->count > 0) {
        write_violated(w, t);
    }
    write_text(w, "}");
    out->body = w->out + start;
    out->body_size = w->used - start;
    out->content_type = "application/problem+json";
    write_end(w);
}
