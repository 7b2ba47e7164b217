# Writes a Lua file as a C array: cmake -DNAME=... -DSYMBOL=... -DFROM=... -DTO=... -P embed.cmake
file(READ ${FROM} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${TO} "// ${NAME}, made by embed.cmake.
#include \"vocabulary.h\"

static const char text[] = {
${bytes}
};

const vocabulary_file ${SYMBOL} = {\"${NAME}\", text, ${size}};
")
