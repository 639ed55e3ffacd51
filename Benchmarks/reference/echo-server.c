/*
 * The yardstick: what a TLS 1.3 round trip costs a plain C program.
 *
 * One thread, epoll, OpenSSL, certificates on both sides. Whoever sends 64 bytes gets them back. It does nothing else: no
 * framing, no interaction model, no storage.
 *
 *     echo-server CERTIFICATE KEY ROOT
 *
 * Listens on a free port of 127.0.0.1, prints it, and runs until it is ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 64, EVENTS_PER_LOOK = 256 };

struct connection {
    int fd;
    SSL *ssl;
    bool is_established;
    int received; /* bytes of the message so far */
    unsigned char message[MESSAGE_SIZE];
};

static void die(const char *what)
{
    fprintf(stderr, "echo-server: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(2);
}

static SSL_CTX *make_context(const char *certificate, const char *key, const char *root)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1
        || SSL_CTX_use_certificate_chain_file(context, certificate) != 1
        || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1
        || SSL_CTX_load_verify_locations(context, root, NULL) != 1)
        die("credentials");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_num_tickets(context, 0);
    /* As Hearth does: idle connections have no buffers, and one read takes all that the socket has. */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    return context;
}

static int listen_on_loopback(void)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        die("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void watch(int poller, int fd, void *owner)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = owner};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

static void accept_all(int listener, int poller, SSL_CTX *context)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct connection *connection = calloc(1, sizeof *connection);
        if (connection == NULL)
            die("memory");
        connection->fd = fd;
        connection->ssl = SSL_new(context);
        SSL_set_fd(connection->ssl, fd);
        SSL_set_accept_state(connection->ssl);
        watch(poller, fd, connection);
    }
}

static void end(struct connection *connection)
{
    SSL_free(connection->ssl);
    close(connection->fd);
    free(connection);
}

/* True while the connection lives. */
static bool wants_more(struct connection *connection, int result)
{
    int error = SSL_get_error(connection->ssl, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

static bool serve(struct connection *connection)
{
    ERR_clear_error();
    if (!connection->is_established) {
        int result = SSL_do_handshake(connection->ssl);
        if (result != 1)
            return wants_more(connection, result);
        connection->is_established = true;
    }
    for (;;) {
        int room = MESSAGE_SIZE - connection->received;
        int result = SSL_read(connection->ssl, connection->message + connection->received, room);
        if (result <= 0)
            return wants_more(connection, result);
        connection->received += result;
        if (connection->received < MESSAGE_SIZE)
            continue;
        connection->received = 0;
        if (SSL_write(connection->ssl, connection->message, MESSAGE_SIZE) != MESSAGE_SIZE)
            return false;
    }
}

int main(int count, char **words)
{
    if (count != 4) {
        fprintf(stderr, "usage: echo-server CERTIFICATE KEY ROOT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    SSL_CTX *context = make_context(words[1], words[2], words[3]);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on_loopback();
    watch(poller, listener, NULL);
    for (;;) {
        struct epoll_event events[EVENTS_PER_LOOK];
        int ready = epoll_wait(poller, events, EVENTS_PER_LOOK, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL)
                accept_all(listener, poller, context);
            else if (!serve(connection))
                end(connection);
        }
    }
}
