/* base/crash.c: see crash.h. Handlers call only async-signal-safe functions and take no lock. */
#include "base/crash.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"

#define ALTERNATE_STACK 65536 /* bytes; needed after a stack overflow */

struct crash_signal {
    int number;
    const char *name;
};

static const struct crash_signal crash_signals[] = {
    {SIGSEGV, "11 (Segmentation fault)"}, {SIGBUS, "7 (Bus error)"}, {SIGFPE, "8 (Floating point exception)"},
    {SIGILL, "4 (Illegal instruction)"},  {SIGABRT, "6 (Aborted)"},
};

struct noted_map {
    _Atomic uintptr_t begin; /* 0: free to use */
    size_t size;
    const char *path;
};

static struct noted_map maps[64];
static pthread_mutex_t maps_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const char *) current_work, current_advice;
static atomic_int works, code_at_work, code_of_file;
static _Atomic(crash_error_handler *) error_handler;
static atomic_flag dying = ATOMIC_FLAG_INIT;

/* ---- Current operation and mapped files ---- */

void crash_work_begins(const char *what)
{
    atomic_store(&current_work, what);
    atomic_fetch_add(&works, 1);
}

void crash_work_ends(void)
{
    atomic_fetch_sub(&works, 1);
}

void crash_set_advice(const char *advice)
{
    atomic_store(&current_advice, advice);
}

void crash_set_exit_codes(int at_work, int of_file)
{
    atomic_store(&code_at_work, at_work);
    atomic_store(&code_of_file, of_file);
}

void crash_set_error_handler(crash_error_handler *handler)
{
    atomic_store(&error_handler, handler);
}

void crash_note_map(const void *data, size_t size, const char *path)
{
    pthread_mutex_lock(&maps_mutex);
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        if (atomic_load(&maps[i].begin) == 0) {
            maps[i].size = size;
            maps[i].path = path;
            atomic_store(&maps[i].begin, (uintptr_t)data);
            break;
        }
    pthread_mutex_unlock(&maps_mutex);
}

void crash_forget_map(const void *data)
{
    pthread_mutex_lock(&maps_mutex);
    for (size_t i = 0; data != NULL && i < ARRAY_LEN(maps); i++)
        if (atomic_load(&maps[i].begin) == (uintptr_t)data)
            atomic_store(&maps[i].begin, 0);
    pthread_mutex_unlock(&maps_mutex);
}

static const char *mapped_file_at(const void *address)
{
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        uintptr_t begin = atomic_load(&maps[i].begin);

        if (begin != 0 && (uintptr_t)address >= begin && (uintptr_t)address - begin < maps[i].size)
            return maps[i].path;
    }
    return NULL;
}

/* ---- The crash report ---- */

struct sentence {
    char text[4096];
    size_t size;
};

/* Names are untrusted: replace what could control a terminal. */
static void write_crash_words(struct sentence *sentence, const char *words)
{
    for (; *words != '\0' && sentence->size < sizeof(sentence->text); words++)
        sentence->text[sentence->size++] = (unsigned char)*words < ' ' || *words == '\x7F' ? ' ' : *words;
}

static const char *signal_name(int signal_number)
{
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        if (crash_signals[i].number == signal_number)
            return crash_signals[i].name;
    return "of an unknown kind";
}

/* Passes the sentence, without its level mark, to the error handler. */
static void pass_error(int signal_number, const char *file, const struct sentence *sentence)
{
    struct error err = {.code = file != NULL ? ERR_IO : ERR_BACKEND, .foreign_code = -signal_number};
    const size_t mark = sizeof("[!] ") - 1, most = sizeof(err.message) - 1;
    crash_error_handler *handler = atomic_load(&error_handler);
    size_t size = sentence->size - mark;

    memcpy(err.message, sentence->text + mark, size < most ? size : most);
    if (handler != NULL)
        handler(&err);
}

static void say_what_happened(int signal_number, const char *file, bool at_work)
{
    struct sentence sentence = {.size = 0};

    write_crash_words(&sentence, "[!] ");
    if (file != NULL) {
        write_crash_words(&sentence, "'");
        write_crash_words(&sentence, file);
        write_crash_words(&sentence,
                          "' cannot be read any more: it was truncated while in use, or its disk failed; signal ");
        write_crash_words(&sentence, signal_name(signal_number));
        write_crash_words(&sentence, " ended this program");
    } else {
        write_crash_words(&sentence, "signal ");
        write_crash_words(&sentence, signal_name(signal_number));
        write_crash_words(&sentence, " ended this program");
        write_crash_words(&sentence, at_work ? " while " : ", which is a bug in it or in a library that it has loaded");
        write_crash_words(&sentence, at_work ? atomic_load(&current_work) : "");
    }
    if (file == NULL && at_work && atomic_load(&current_advice) != NULL) {
        write_crash_words(&sentence, ". ");
        write_crash_words(&sentence, atomic_load(&current_advice));
    }
    if (write(STDERR_FILENO, sentence.text, sentence.size) < 0 || write(STDERR_FILENO, "\n", 1) < 0) {
        /* A failed write cannot be reported. */
    }
    pass_error(signal_number, file, &sentence);
}

static void handle_crash(int signal_number, siginfo_t *info, void *context)
{
    bool by_address = signal_number == SIGBUS && info->si_code > 0; /* not sent by kill() */
    const char *file = by_address ? mapped_file_at(info->si_addr) : NULL;
    bool at_work = atomic_load(&works) > 0;
    int code = file != NULL ? atomic_load(&code_of_file) : at_work ? atomic_load(&code_at_work) : 0;

    (void)context;
    while (atomic_flag_test_and_set(&dying)) /* another thread is about to end the process */
        pause();
    interrupt_leave_nothing();
    say_what_happened(signal_number, file, at_work);
    if (code != 0)
        _exit(code);
    interrupt_die_by(signal_number);
}

/* ---- Handlers ---- */

void crash_install(void)
{
    static char alternate[ALTERNATE_STACK];
    struct sigaction action = {.sa_sigaction = handle_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

    crash_set_advice(NULL);
    crash_set_exit_codes(0, 0);
    atomic_store(&works, 0);
    sigaltstack(&stack, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        sigaddset(&action.sa_mask, crash_signals[i].number);
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        sigaction(crash_signals[i].number, &action, NULL);
}

void crash_forget(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        sigaction(crash_signals[i].number, &action, NULL);
}
