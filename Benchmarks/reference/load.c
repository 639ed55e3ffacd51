/*
 * The load: many TLS connections, on each of which one request is open at a time.
 *
 *     load PLAN CONNECTIONS SECONDS ROUNDS
 *
 * PLAN is a text file, one item a line:
 *
 *     credentials CERTIFICATE KEY ROOT       files in PEM
 *     target NAME PID ALPN|-                 a server process; the endpoints and operations that follow are its own
 *     greeting PATTERN                       what the server sends first on each connection
 *     endpoint PORT NAME|-                   where to connect on 127.0.0.1, and which name to ask for
 *     operation NAME REQUEST = PATTERN       a request and what the answer has to look like
 *
 * Requests and patterns are bytes in hexadecimal, with `lo` and `hi` for the two bytes of a number that changes with each
 * request (and that the answer has to repeat), and in patterns `??` for a byte that may be anything. Connection n of a target
 * uses its endpoint n, beginning again after the last.
 *
 * All connections to all targets stay open. Each round runs every operation for SECONDS, one after the other, and prints
 *
 *     OPERATION ROUND REQUESTS SECONDS SERVER_CPU_SECONDS MEDIAN_LATENCY_US P99_LATENCY_US
 *
 * so that what is to be compared is measured next to each other. An answer that does not fit ends the program with status 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PATTERN_LIMIT = 512,
    NAME_LIMIT = 64,
    TARGET_LIMIT = 4,
    OPERATION_LIMIT = 8,
    EVENTS_PER_LOOK = 256,
    LATENCY_LIMIT = 4000000,
    /* values of a pattern beyond those of a byte */
    ANY = 256,
    LOW = 257,
    HIGH = 258
};

struct pattern {
    int length;
    uint16_t bytes[PATTERN_LIMIT];
};

struct endpoint {
    int port;
    char name[NAME_LIMIT];
};

struct connection {
    int fd;
    SSL *ssl;
    int received;
    uint16_t number; /* of the request that is open */
    double sent;
    unsigned char answer[PATTERN_LIMIT];
};

struct target {
    char name[NAME_LIMIT];
    char alpn[NAME_LIMIT];
    pid_t pid;
    struct pattern greeting;
    struct endpoint *endpoints;
    int endpoint_count;
    struct connection *connections;
    int poller;
};

struct operation {
    char name[NAME_LIMIT];
    struct target *target;
    struct pattern request, answer;
};

static struct target targets[TARGET_LIMIT];
static struct operation operations[OPERATION_LIMIT];
static int target_count, operation_count;
static SSL_CTX *context;

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "load: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double cpu_of(pid_t pid)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        die("process %d has gone", (int)pid);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* ---- the plan ---- */

static struct pattern read_pattern(char *text)
{
    struct pattern pattern = {0};
    for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        if (pattern.length == PATTERN_LIMIT)
            die("a message is too long");
        uint16_t *byte = &pattern.bytes[pattern.length++];
        char *end;
        if (strcmp(word, "??") == 0)
            *byte = ANY;
        else if (strcmp(word, "lo") == 0)
            *byte = LOW;
        else if (strcmp(word, "hi") == 0)
            *byte = HIGH;
        else if (*byte = strtoul(word, &end, 16), *end != 0 || *byte > 255)
            die("not a byte: %s", word);
    }
    return pattern;
}

static void read_item(char *line)
{
    char first[256], second[256], third[256];
    struct target *target = target_count > 0 ? &targets[target_count - 1] : NULL;
    int offset = 0;
    if (sscanf(line, "credentials %255s %255s %255s", first, second, third) == 3) {
        context = SSL_CTX_new(TLS_client_method());
        if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1
            || SSL_CTX_use_certificate_chain_file(context, first) != 1
            || SSL_CTX_use_PrivateKey_file(context, second, SSL_FILETYPE_PEM) != 1
            || SSL_CTX_load_verify_locations(context, third, NULL) != 1)
            die("credentials");
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_read_ahead(context, 1);
    } else if (sscanf(line, "target %63s %255s %63s", first, second, third) == 3) {
        if (target_count == TARGET_LIMIT)
            die("too many targets");
        target = &targets[target_count++];
        snprintf(target->name, sizeof target->name, "%.63s", first);
        target->pid = atoi(second);
        snprintf(target->alpn, sizeof target->alpn, "%.63s", strcmp(third, "-") == 0 ? "" : third);
    } else if (target == NULL) {
        die("no target before: %s", line);
    } else if (strncmp(line, "greeting ", 9) == 0) {
        target->greeting = read_pattern(line + 9);
    } else if (sscanf(line, "endpoint %255s %63s", first, second) == 2) {
        target->endpoints = realloc(target->endpoints, (target->endpoint_count + 1) * sizeof *target->endpoints);
        struct endpoint *endpoint = &target->endpoints[target->endpoint_count++];
        endpoint->port = atoi(first);
        snprintf(endpoint->name, sizeof endpoint->name, "%.63s", strcmp(second, "-") == 0 ? "" : second);
    } else if (sscanf(line, "operation %63s %n", first, &offset) == 1 && offset > 0) {
        char *answer = strchr(line, '=');
        if (answer == NULL || operation_count == OPERATION_LIMIT)
            die("not an operation: %s", line);
        *answer++ = 0;
        struct operation *operation = &operations[operation_count++];
        snprintf(operation->name, sizeof operation->name, "%.63s", first);
        operation->target = target;
        operation->request = read_pattern(line + offset);
        operation->answer = read_pattern(answer);
    } else {
        die("not an item of a plan: %s", line);
    }
}

static void read_plan(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die("%s: %s", path, strerror(errno));
    static char line[16384];
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] != '\n')
            read_item(line);
    fclose(file);
    if (context == NULL || operation_count == 0)
        die("the plan has no credentials or no operation");
}

/* ---- connections ---- */

static void check(const struct pattern *pattern, const unsigned char *bytes, uint16_t number, const char *what)
{
    for (int i = 0; i < pattern->length; i++) {
        int wanted = pattern->bytes[i];
        if (wanted == LOW)
            wanted = number & 0xFF;
        else if (wanted == HIGH)
            wanted = number >> 8;
        if (wanted != ANY && wanted != bytes[i]) {
            fprintf(stderr, "load: the answer is");
            for (int k = 0; k < pattern->length; k++)
                fprintf(stderr, " %02x", bytes[k]);
            fprintf(stderr, "\n");
            die("%s: byte %d of the answer is %02x and not %02x", what, i, bytes[i], wanted);
        }
    }
}

static void read_fully(struct connection *connection, int length, const char *what)
{
    int received = 0;
    while (received < length) {
        int result = SSL_read(connection->ssl, connection->answer + received, length - received);
        if (result <= 0)
            die("%s: the connection ended", what);
        received += result;
    }
}

static void dial(struct target *target, struct connection *connection, const struct endpoint *endpoint)
{
    struct sockaddr_in address
        = {.sin_family = AF_INET, .sin_port = htons(endpoint->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || connect(connection->fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("%s, port %d: %s", target->name, endpoint->port, strerror(errno));
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->ssl = SSL_new(context);
    SSL_set_fd(connection->ssl, connection->fd);
    if (target->alpn[0] != 0) {
        unsigned char protocols[NAME_LIMIT + 1];
        size_t length = strlen(target->alpn);
        protocols[0] = length;
        memcpy(protocols + 1, target->alpn, length);
        SSL_set_alpn_protos(connection->ssl, protocols, length + 1);
    }
    if (endpoint->name[0] != 0)
        SSL_set_tlsext_host_name(connection->ssl, endpoint->name);
    if (SSL_connect(connection->ssl) != 1)
        die("%s, port %d: no handshake", target->name, endpoint->port);
    read_fully(connection, target->greeting.length, target->name);
    check(&target->greeting, connection->answer, 0, target->name);
}

static void connect_all(struct target *target, int count)
{
    if (target->endpoint_count == 0)
        die("%s has no endpoint", target->name);
    target->connections = calloc(count, sizeof *target->connections);
    target->poller = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) {
        struct connection *connection = &target->connections[i];
        dial(target, connection, &target->endpoints[i % target->endpoint_count]);
        fcntl(connection->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        if (epoll_ctl(target->poller, EPOLL_CTL_ADD, connection->fd, &event) != 0)
            die("epoll_ctl: %s", strerror(errno));
    }
}

/* ---- round trips ---- */

static float latencies[LATENCY_LIMIT];
static int latency_count;

static void send_request(const struct operation *operation, struct connection *connection)
{
    unsigned char bytes[PATTERN_LIMIT];
    connection->number++;
    connection->received = 0;
    for (int i = 0; i < operation->request.length; i++) {
        int byte = operation->request.bytes[i];
        bytes[i] = byte == LOW ? connection->number & 0xFF : byte == HIGH ? connection->number >> 8 : byte;
    }
    connection->sent = now();
    if (SSL_write(connection->ssl, bytes, operation->request.length) != operation->request.length)
        die("%s: a request was not taken", operation->name);
}

/* True when the answer is complete. */
static bool receive(const struct operation *operation, struct connection *connection)
{
    while (connection->received < operation->answer.length) {
        int result = SSL_read(
            connection->ssl, connection->answer + connection->received, operation->answer.length - connection->received);
        if (result <= 0) {
            if (SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ)
                die("%s: a connection ended", operation->name);
            return false;
        }
        connection->received += result;
    }
    check(&operation->answer, connection->answer, connection->number, operation->name);
    if (SSL_pending(connection->ssl) > 0)
        die("%s: an answer is longer than %d bytes", operation->name, operation->answer.length);
    return true;
}

static int compare(const void *left, const void *right)
{
    float difference = *(const float *)left - *(const float *)right;
    return difference < 0 ? -1 : difference > 0;
}

static void run(const struct operation *operation, int connections, double duration, int round)
{
    struct target *target = operation->target;
    long requests = 0;
    int open = connections;
    latency_count = 0;
    double start = now(), cpu = cpu_of(target->pid), stop = start + duration;
    for (int i = 0; i < connections; i++)
        send_request(operation, &target->connections[i]);
    while (open > 0) {
        struct epoll_event events[EVENTS_PER_LOOK];
        int ready = epoll_wait(target->poller, events, EVENTS_PER_LOOK, 5000);
        if (ready <= 0)
            die("%s: no answer for five seconds", operation->name);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(operation, connection))
                continue;
            double time = now();
            requests++;
            if (latency_count < LATENCY_LIMIT)
                latencies[latency_count++] = (time - connection->sent) * 1e6;
            if (time < stop)
                send_request(operation, connection);
            else
                open--;
        }
    }
    double seconds = now() - start;
    cpu = cpu_of(target->pid) - cpu;
    qsort(latencies, latency_count, sizeof latencies[0], compare);
    printf("%s %d %ld %.6f %.6f %.1f %.1f\n", operation->name, round, requests, seconds, cpu, latencies[latency_count / 2],
        latencies[(int)(latency_count * 0.99)]);
    fflush(stdout);
}

int main(int count, char **words)
{
    if (count != 5) {
        fprintf(stderr, "usage: load PLAN CONNECTIONS SECONDS ROUNDS\n");
        return 2;
    }
    int connections = atoi(words[2]), rounds = atoi(words[4]);
    double duration = atof(words[3]);
    if (connections < 1 || rounds < 1 || duration <= 0)
        die("connections, seconds and rounds are positive");
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    read_plan(words[1]);
    for (int i = 0; i < target_count; i++)
        connect_all(&targets[i], connections);
    /* The first of everything is for warming up. */
    for (int i = 0; i < operation_count; i++)
        run(&operations[i], connections, duration / 4, 0);
    for (int round = 1; round <= rounds; round++)
        for (int i = 0; i < operation_count; i++)
            run(&operations[i], connections, duration, round);
    return 0;
}
