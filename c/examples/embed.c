// A limit in ten lines: five logins a minute for bob, at most five at once.

#include <stdio.h>
#include <weir.h>

int main(void)
{
    weir_store *store;
    weir_limit login;
    weir_decision decision;
    const weir_limit_options options = {
        .name = "login", .algorithm = WEIR_TOKEN_BUCKET, .rate = 5, .period_us = WEIR_MINUTE};
    if (weir_limit_init(&login, &options, NULL) != WEIR_OK ||
        weir_memory_open(&store, NULL, NULL) != WEIR_OK) {
        return 1;
    }
    for (int attempt = 1; attempt <= 6; attempt++) {
        const weir_check check = {&login, WEIR_TEXT("bob"), .cost = 1};
        weir_store_take(store, &check, 0, &decision, NULL);
        printf("%d: %s\n", attempt, decision.allowed ? "welcome" : "come back later");
    }
    weir_store_close(store);
    return 0;
}
