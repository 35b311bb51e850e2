/* base/interrupt.c: signal handling, and removal of registered files and process groups.
 *
 * The handler may run at any moment and in any thread, so it takes no lock: entries are never freed, and a user of a
 * path first takes it out of its entry with an atomic exchange. The mutex synchronizes only callers outside the
 * handler.
 */
#include "base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

static const int handled_signals[] = {SIGINT, SIGTERM, SIGHUP};

#define SAME_REQUEST_MILLISECONDS 100

struct leftover_file {
    _Atomic(char *) path; /* NULL: free to use */
    struct leftover_file *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;
static _Atomic(struct leftover_file *) entries;
static _Atomic pid_t groups[256];
static _Atomic(const char *) last_words;
static atomic_int last_words_to;

static atomic_int first_signal;
static _Atomic int64_t first_signal_at; /* milliseconds; 0: none, or its handler still runs */
static int wake[2] = {-1, -1};
static timer_t last_call; /* sends SIGALRM when the grace period is over */
static bool has_last_call, ignores_alarms;

void interrupt_remove_registered(void)
{
    pthread_mutex_lock(&mutex);
    for (struct leftover_file *entry = atomic_load(&entries); entry; entry = entry->next) {
        char *path SCOPED_FREE = atomic_exchange(&entry->path, NULL);
        if (path)
            unlink(path);
    }
    pthread_mutex_unlock(&mutex);
}

static void kill_groups(void)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        pid_t group = atomic_exchange(&groups[i], 0);
        if (group > 0)
            kill(-group, SIGKILL);
    }
}

static void remove_everything(void)
{
    kill_groups();
    interrupt_remove_registered();
}

/* For a forked child: another thread of the parent may have held the mutex during the fork. */
static void forget_everything(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (struct leftover_file *entry = atomic_load(&entries); entry; entry = entry->next)
        free(atomic_exchange(&entry->path, NULL));
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        atomic_store(&groups[i], 0);
    atomic_store(&last_words, NULL);
}

static void prepare_exit(void)
{
    atexit(remove_everything);
    pthread_atfork(NULL, NULL, forget_everything);
}

void interrupt_remove_at_exit(const char *path)
{
    char *copy = memory_strdup(path);
    struct leftover_file *entry;

    pthread_once(&at_exit_once, prepare_exit);
    pthread_mutex_lock(&mutex);
    for (entry = atomic_load(&entries); entry; entry = entry->next) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&entry->path, &none, copy))
            break;
    }
    if (!entry) {
        entry = memory_alloc(sizeof(*entry));
        atomic_init(&entry->path, copy);
        entry->next = atomic_load(&entries);
        atomic_store(&entries, entry);
    }
    pthread_mutex_unlock(&mutex);
}

void interrupt_keep(const char *path)
{
    pthread_mutex_lock(&mutex);
    for (struct leftover_file *entry = atomic_load(&entries); entry; entry = entry->next) {
        char *registered = atomic_load(&entry->path);
        if (registered && strcmp(registered, path) == 0) {
            free(atomic_exchange(&entry->path, NULL));
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
}

static void replace_group(pid_t from, pid_t to)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        pid_t expected = from;
        if (atomic_compare_exchange_strong(&groups[i], &expected, to))
            return;
    }
}

void interrupt_kill_at_exit(pid_t group)
{
    pthread_once(&at_exit_once, prepare_exit);
    replace_group(0, group);
}

void interrupt_spare(pid_t group)
{
    replace_group(group, 0);
}

void interrupt_set_last_words(int fd, const char *words)
{
    atomic_store(&last_words, NULL);
    atomic_store(&last_words_to, fd);
    atomic_store(&last_words, words);
}

static void say_last_words(void)
{
    const char *words = atomic_exchange(&last_words, NULL);

    if (words && write(atomic_load(&last_words_to), words, strlen(words)) < 0) {
        /* A failed write cannot be reported. */
    }
}

void interrupt_leave_nothing(void)
{
    kill_groups();
    say_last_words();
    for (struct leftover_file *entry = atomic_load(&entries); entry; entry = entry->next) {
        char *path = atomic_exchange(&entry->path, NULL);
        if (path)
            unlink(path); /* free() is not async-signal-safe */
    }
}

void interrupt_die_by(int signal_number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t only;

    interrupt_leave_nothing();
    sigaction(signal_number, &action, NULL);
    raise(signal_number);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + signal_number); /* reached as PID 1 of a container, which default actions do not terminate */
}

static int64_t milliseconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The grace period is over. Or the alarm is not ours: the parent may have set one as a time limit. */
static void end_at_last(int signal_number)
{
    int first = atomic_load(&first_signal);

    if (first != 0 || !ignores_alarms)
        interrupt_die_by(first != 0 ? first : signal_number);
}

static void start_last_call(void)
{
    struct itimerspec due = {
        .it_value = {INTERRUPT_GRACE_MILLISECONDS / 1000, INTERRUPT_GRACE_MILLISECONDS % 1000 * 1000000L}};

    if (has_last_call)
        timer_settime(last_call, 0, &due, NULL);
}

static void handle_interrupt(int signal_number)
{
    int saved_errno = errno;
    int first = 0;

    if (atomic_compare_exchange_strong(&first_signal, &first, signal_number)) {
        atomic_store(&first_signal_at, milliseconds_now());
        if (write(wake[1], "", 1) < 0) {
            /* A full pipe is readable already; interrupt_pending() works in any case. */
        }
        start_last_call();
    } else {
        int64_t at = atomic_load(&first_signal_at);
        bool same = first == signal_number && (at == 0 || milliseconds_now() - at < SAME_REQUEST_MILLISECONDS);
        if (!same)
            interrupt_die_by(signal_number);
    }
    errno = saved_errno;
}

void interrupt_forget(void)
{
    forget_everything();
    has_last_call = false; /* timers are not inherited by a forked child */
    for (size_t i = 0; i < ARRAY_LEN(wake); i++) {
        if (wake[i] >= 0)
            close(wake[i]);
        wake[i] = -1;
    }
    atomic_store(&first_signal, 0);
    atomic_store(&first_signal_at, 0);
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = handle_interrupt, .sa_flags = SA_RESTART};
    struct sigaction at_last = {.sa_handler = end_at_last, .sa_flags = SA_RESTART};
    struct sigevent alarm_event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction alarms;

    if (wake[0] >= 0)
        return;
    if (pipe(wake) == 0) {
        fcntl(wake[0], F_SETFD, FD_CLOEXEC);
        fcntl(wake[1], F_SETFD, FD_CLOEXEC);
    }
    sigemptyset(&at_last.sa_mask);
    ignores_alarms = sigaction(SIGALRM, NULL, &alarms) == 0 && alarms.sa_handler == SIG_IGN;
    has_last_call =
        sigaction(SIGALRM, &at_last, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &alarm_event, &last_call) == 0;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(handled_signals); i++)
        sigaddset(&action.sa_mask, handled_signals[i]);
    for (size_t i = 0; i < ARRAY_LEN(handled_signals); i++) {
        struct sigaction old;
        if (sigaction(handled_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(handled_signals[i], &action, NULL);
    }
}

int interrupt_pending(void)
{
    return atomic_load(&first_signal);
}

int interrupt_descriptor(void)
{
    return wake[0];
}

void interrupt_die(void)
{
    int signal_number = interrupt_pending();

    if (signal_number != 0)
        interrupt_die_by(signal_number);
}
