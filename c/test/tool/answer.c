// A listener that takes itself for a server: answers what it is told to, by what it hears.
//
//   answer SOCKET [WORD REPLY]...
//
// What arrives is answered by the REPLY of the first WORD in it; an empty WORD is in everything. In
// a REPLY "\n" is the end of a line as the protocol has it. It ends when its standard input does.

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PEERS_MAX 16

static void send_reply(int fd, const char *reply)
{
    char bytes[4096];
    size_t size = 0;
    for (const char *at = reply; *at && size < sizeof bytes - 2; at++) {
        if (at[0] == '\\' && at[1] == 'n') {
            bytes[size++] = '\r';
            bytes[size++] = '\n';
            at++;
        } else {
            bytes[size++] = *at;
        }
    }
    if (write(fd, bytes, size) < 0) {
        perror("answer");
    }
}

// False when the peer has gone.
static int serve(int fd, int count, char **pairs)
{
    static char heard[65536];
    ssize_t size = read(fd, heard, sizeof heard - 1);
    if (size <= 0) {
        return 0;
    }
    heard[size] = '\0';
    for (int i = 0; i + 1 < count; i += 2) {
        if (strstr(heard, pairs[i])) {
            send_reply(fd, pairs[i + 1]);
            break;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc < 2 || strlen(argv[1]) >= sizeof address.sun_path) {
        return 2;
    }
    strcpy(address.sun_path, argv[1]);
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, PEERS_MAX) != 0) {
        perror("answer");
        return 2;
    }
    struct pollfd polls[2 + PEERS_MAX] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                          {.fd = listener, .events = POLLIN}};
    nfds_t count = 2;
    while (poll(polls, count, -1) > 0 && !polls[0].revents) {
        for (nfds_t i = count; i-- > 2;) {
            if (polls[i].revents && !serve(polls[i].fd, argc - 2, argv + 2)) {
                close(polls[i].fd);
                polls[i] = polls[--count];
            }
        }
        if (polls[1].revents && count < 2 + PEERS_MAX) {
            polls[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
        }
    }
    unlink(argv[1]);
    return 0;
}
