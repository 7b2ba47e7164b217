// Opening, asking and comparing for the tests of policies.

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fixture_open_with(fixture *f, const char *text, const weir_policy_options *options)
{
    *f = (fixture){.policy = NULL};
    weir_status status =
        weir_policy_open_text(&f->policy, "policy.lua", text, strlen(text), options, &f->error);
    if (status != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
    assert_int_equal(weir_runner_open(&f->runner, f->policy, &f->error), WEIR_OK);
    assert_int_equal(weir_memory_open(&f->store, NULL, &f->error), WEIR_OK);
}

void fixture_open(fixture *f, const char *text)
{
    fixture_open_with(f, text, NULL);
}

void fixture_close(fixture *f)
{
    weir_runner_close(f->runner);
    weir_policy_close(f->policy);
    weir_store_close(f->store);
}

weir_status fixture_ask_field(fixture *f, weir_field field, int64_t time_us)
{
    const weir_request request = {.fields = &field, .count = 1, .time_us = time_us};
    f->error.message[0] = '\0';
    return weir_runner_decide(f->runner, f->store, &request, &f->outcome, &f->error);
}

static weir_field user_field(const char *user)
{
    return (weir_field){.name = "user", .text = user, .text_size = user ? strlen(user) : 0};
}

weir_status fixture_ask(fixture *f, const char *user, int64_t time_us)
{
    return fixture_ask_field(f, user_field(user), time_us);
}

weir_status fixture_respond(fixture *f, const char *user, bool allowed, const char *success,
                            int64_t time_us)
{
    const weir_field field = user_field(user);
    const weir_request request = {.fields = &field, .count = 1, .time_us = time_us};
    const weir_field response = {
        .name = "success", .text = success, .text_size = success ? strlen(success) : 0};
    f->error.message[0] = '\0';
    return weir_runner_respond(f->runner, f->store, &request, &response, 1, allowed, &f->error);
}

void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("\"%s\" does not have \"%s\"", text, piece);
    }
}

void assert_refused(const char *text, weir_status status, const char *piece, const char *other)
{
    weir_policy *policy;
    weir_error error = {.message = ""};
    const weir_status got =
        weir_policy_open_text(&policy, "policy.lua", text, strlen(text), NULL, &error);
    if (got == WEIR_OK) {
        weir_policy_close(policy);
        fail_msg("was not refused: %s", text);
    }
    assert_has(error.message, piece);
    assert_has(error.message, other);
    assert_int_equal(got, status);
    assert_int_equal(error.status, status);
}

char *read_all(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = '\0';
    fclose(file);
    *out_size = (size_t)size;
    return text;
}
