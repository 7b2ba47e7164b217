// What a kind of store provides. The public verbs check their arguments once and call it.

#ifndef WEIR_SRC_STORE_H
#define WEIR_SRC_STORE_H

#include "algorithm/algorithm.h"
#include "weir/store.h"

typedef struct weir_store_kind {
    weir_status (*take)(weir_store *, const weir_check *, int64_t now_us, weir_decision *,
                        weir_error *);
    weir_status (*take_all)(weir_store *, const weir_check *, size_t count, int64_t now_us,
                            weir_decision *out, weir_decision *rows, weir_error *);
    weir_status (*take_many)(weir_store *, const weir_check *, size_t count, int64_t now_us,
                             weir_decision *rows, weir_error *);
    // Any verb but take, for one check.
    weir_status (*step)(weir_store *, weir_verb, const weir_check *, int64_t now_us,
                        weir_decision *, weir_error *);
    weir_status (*reset)(weir_store *, const weir_check *, weir_error *);
    int64_t (*now_us)(weir_store *);
    void (*close)(weir_store *);
} weir_store_kind;

// Every store begins with this.
struct weir_store {
    const weir_store_kind *kind;
};

// Whether a store may be given the check: what is said of checks in check.h. Fills the error.
weir_status weir_check_validate(const weir_check *check, weir_verb verb, weir_error *error);

// The joint decision of the rows, by SEMANTICS: refused, the longest wait binds; allowed, the least
// remaining.
void weir_decision_join(weir_decision *out, const weir_decision *rows, size_t count);

// What a limit of 0 answers: only a cost of nought passes, and nothing is stored.
void weir_decision_of_nothing(weir_decision *out, weir_verb verb, const weir_check *check);

#endif
