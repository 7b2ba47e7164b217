// Names and meanings of the status codes, the interface number and the version.

#include "weir/status.h"

const char *weir_status_name(weir_status status)
{
    switch (status) {
#define WEIR_STATUS_NAME(name, code, meaning)                                                      \
    case WEIR_##name:                                                                              \
        return "WEIR_" #name;
        WEIR_STATUS_LIST(WEIR_STATUS_NAME)
#undef WEIR_STATUS_NAME
    }
    return "unknown status";
}

const char *weir_status_meaning(weir_status status)
{
    switch (status) {
#define WEIR_STATUS_MEANING(name, code, meaning)                                                   \
    case WEIR_##name:                                                                              \
        return meaning;
        WEIR_STATUS_LIST(WEIR_STATUS_MEANING)
#undef WEIR_STATUS_MEANING
    }
    return "unknown status";
}

int weir_abi(void)
{
    return WEIR_ABI;
}

const char *weir_version(void)
{
    return WEIR_VERSION;
}
