// Starts and stops a redis-server, and speaks with it in the plainest way.

#include "server.h"

#include <arpa/inet.h>
#include <hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS_MAX 32

static void run_server(const test_server *server, const char *const *options, int log)
{
    const char *words[OPTIONS_MAX + 16] = {"redis-server", "--port",      "0", "--unixsocket",
                                           server->path,   "--save",      "",  "--dir",
                                           server->folder, "--daemonize", "no"};
    size_t count = 11;
    while (*options != NULL && count < OPTIONS_MAX) {
        words[count++] = *options++;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(log, STDOUT_FILENO);
    execvp(words[0], (char *const *)words);
    _exit(127);
}

// Reads the server's log until it says that it takes connections.
static bool wait_until_ready(int log)
{
    char text[8192];
    size_t size = 0;
    ssize_t count;
    while (size < sizeof text - 1 && (count = read(log, text + size, sizeof text - 1 - size)) > 0) {
        size += (size_t)count;
        text[size] = '\0';
        if (strstr(text, "eady to accept connections") != NULL) {
            return true;
        }
    }
    return false;
}

static void launch(test_server *server, const char *const *options)
{
    int log[2];
    assert_int_equal(pipe(log), 0);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        close(log[0]);
        run_server(server, options, log[1]);
    }
    close(log[1]);
    const bool ready = wait_until_ready(log[0]);
    close(log[0]);
    if (!ready) {
        test_server_stop(server);
        fail_msg("redis-server did not start");
    }
}

void test_server_start(test_server *server, const char *const *options)
{
    *server = (test_server){.folder = "/tmp/weir-test-XXXXXX"};
    if (mkdtemp(server->folder) == NULL) {
        fail_msg("no folder for a server");
    }
    snprintf(server->path, sizeof server->path, "%s/socket", server->folder);
    snprintf(server->url, sizeof server->url, "redis+unix://%s", server->path);
    for (const char *const *option = options; *option != NULL; option++) {
        if (strcmp(*option, "--port") == 0) {
            server->port = atoi(option[1]);
        }
    }
    launch(server, options);
}

void test_server_restart(test_server *server, const char *const *options)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    launch(server, options);
}

const char *test_free_port(char out[8])
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    snprintf(out, 8, "%d", ntohs(address.sin_port));
    return out;
}

void test_server_stop(test_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
        server->pid = 0;
    }
    unlink(server->path);
    char nodes[128]; // what a server in cluster mode leaves
    snprintf(nodes, sizeof nodes, "%s/nodes.conf", server->folder);
    unlink(nodes);
    rmdir(server->folder);
}

static const char *text_of(const redisReply *reply)
{
    static _Thread_local char text[4096];
    while (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0) {
        reply = reply->element[reply->elements - 1];
    }
    if (reply == NULL) {
        snprintf(text, sizeof text, "no reply");
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        snprintf(text, sizeof text, "%lld", reply->integer);
    } else {
        snprintf(text, sizeof text, "%s", reply->str != NULL ? reply->str : "");
    }
    return text;
}

const char *test_ask(const test_server *server, const char *format, ...)
{
    redisContext *context = redisConnectUnix(server->path);
    assert_non_null(context);
    assert_int_equal(context->err, 0);
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    const char *text = text_of(reply);
    if (reply != NULL) {
        freeReplyObject(reply);
    }
    redisFree(context);
    return text;
}

weir_store *test_redis(const char *url, const char *query)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", url, query);
    weir_store *store = NULL;
    weir_error error = {0};
    if (weir_redis_open(&store, &(weir_redis_options){.url = whole}, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return store;
}
