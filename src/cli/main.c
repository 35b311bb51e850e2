/* cli/main.c: the table of tools, parsing of the command line, and the process's exit. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/provider_libraries.h"
#include "base/crash.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/process/error_file.h"
#include "base/system.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/frame.h"
#include "cli/options/groups.h"
#include "cli/parse/help.h"
#include "cli/parse/lookup.h"
#include "cli/parse/parser.h"
#include "cli/terminal/log_sink.h"
#include "cli/terminal/progress_line.h"
#include "debug/check/check.h"

#define COMPATIBLE_WITH "0.49.27" /* the release of Polygraphy whose behaviour this program follows */

#ifdef __has_feature /* clang */
#define SANITIZED                                                                                                      \
    (__has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const struct command *const tools[] = {
    &cmd_run, &cmd_convert, &cmd_debug, &cmd_inspect, &cmd_surgeon, &cmd_data, &cmd_check, &cmd_completion, &cmd_help,
};

static const struct command polygraphy = {
    .name = "polygraphy",
    .summary = "run and compare neural networks, and find the cause of failures",
    .description = "Runs and compares neural networks, and finds the cause of failures.",
    .example =
        "# short help of a command\npolygraphy debug reduce --help\n# complete help\npolygraphy help debug reduce",
    .subcommands = tools,
    .subcommand_count = ARRAY_LEN(tools),
    .missing = missing_tools,
};

/* Opens closed standard streams, so that no output file gets the descriptor of standard output or error. */
static void open_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* With an empty handler, a broken pipe or an exceeded file size limit (ulimit -f) becomes an error of write(). Unlike
 * SIG_IGN, the handler is not inherited. */
static void note_failed_write(int signal_number)
{
    (void)signal_number;
}

static void print_version(struct log_sink *sink, const char *program)
{
    SCOPED_STRING(text);

    string_add_format(&text, "Polygraphy | Version: %s (compatible with %s) | Path: ['%s']\n", POLYGRAPHY_VERSION,
                      COMPATIBLE_WITH, program ? program : "");
    log_sink_print(sink, (struct text){text.data, text.size});
}

static void print_help(struct parse *parse, struct log_sink *sink)
{
    SCOPED_STRING(text);

    help_render(parse, help_extent_wanted(parse), help_width(), &text);
    log_sink_print(sink, (struct text){text.data, text.size});
}

static void print_refusal(struct parse *parse, const struct error *err)
{
    SCOPED_STRING(text);

    help_usage(parse, &text);
    string_add_format(&text, "%s: error: ", parse_command_name(parse));
    string_add_visible(&text, text_of(err->message));
    string_add_char(&text, '\n');
    fputs(text.data, stderr);
}

/* Opens the log, and begins the file of --junit. Nothing, including the log file, is written before the output files
 * have been checked. */
static int configure_log(struct parse *parse, struct log_sink *sink, struct error *err)
{
    struct log_settings settings;
    int rc = parse_finish_group(parse, &logging_options, err);

    if (rc < 0)
        return rc;
    settings = common_settings_of(parse)->logging.settings;
    rc = command_files_check(parse, err);
    if (rc < 0) {
        settings.file = NULL;
        log_sink_configure(sink, &settings, NULL);
        return rc;
    }
    rc = log_sink_configure(sink, &settings, err);
    return rc < 0 ? rc : parse_finish_group(parse, &junit_options, err);
}

/* Runs the parsed command, and returns the exit status. */
static int run_command(struct parse *parse, struct log_sink *sink, struct command_context *context)
{
    const struct command *command = parse_command(parse);
    struct command_frame frame;
    struct error err = {0};
    double start;
    int rc;

    command_frame_begin(&frame, &sink->log, context->command_line, false);
    rc = configure_log(parse, sink, &err);
    if (rc < 0)
        return command_frame_end(&frame, rc, &err);

    start = stopwatch_now();
    context->junit = junit_begin(context, parse_command_name(parse));
    rc = parse_finish(parse, &sink->log, &err);
    if (rc == 0) {
        memory_limit_set(common_settings_of(parse)->max_memory);
        command_frame_begin(&frame, &sink->log, context->command_line, command->framed);
        rc = command->run(context, parse->settings, &err);
        progress_line_end(context->progress);
    }
    rc = junit_finish(context, parse_command_name(parse), rc, stopwatch_now() - start, &err);
    return command_frame_end(&frame, rc, &err);
}

static int dispatch_command(struct parse *parse, struct log_sink *sink, struct command_context *context,
                            size_t word_count)
{
    struct error err = {0};

    switch (parse_words(parse, word_count, context->command_line + 1, &err)) {
    case PARSE_DONE:
        return run_command(parse, sink, context);
    case PARSE_HELP:
        print_help(parse, sink);
        return 0;
    case PARSE_VERSION:
        print_version(sink, context->program);
        return 0;
    case PARSE_REFUSED:
        if (word_count == 0)
            print_help(parse, sink);
        else
            print_refusal(parse, &err);
        return exit_status_of_refusal(EXIT_STATUS_REFUSED);
    case PARSE_UNRECOGNIZED:
        log_message(&sink->log, LOG_CRITICAL, "%s", err.message);
        error_file_write(RECORD_ERROR, &err);
        break;
    }
    return exit_status_of_refusal(EXIT_STATUS_ERROR);
}

/* Exits without the destructors of libraries: those of ONNX Runtime take milliseconds to free memory of the process. */
static int leave_program(int status)
{
#if !SANITIZED /* the leak sanitizer runs in exit() */
    interrupt_remove_registered();
    fflush(NULL);
    _exit(status);
#endif
    return status;
}

#if !SANITIZED /* sanitizers report crashes themselves */
static void pass_crash(const struct error *err)
{
    error_file_write(RECORD_ERROR, err);
}
#endif

/* Inside a check the exit code shows the kind of failure; a signal would mean a crash of this program. */
static void install_last_sentence(void)
{
#if !SANITIZED
    crash_install();
    crash_set_error_handler(pass_crash);
    if (check_is_around_us())
        crash_set_exit_codes(EXIT_STATUS_NOT_RUN, EXIT_STATUS_UNTESTABLE);
#endif
}

int main(int argc, char **argv)
{
    struct sigaction failed_write = {.sa_handler = note_failed_write};
    struct progress_line progress;
    struct log_sink sink;
    struct parse parse;
    char *program;
    int status;

    open_standard_streams();
    sigemptyset(&failed_write.sa_mask);
    sigaction(SIGPIPE, &failed_write, NULL);
    sigaction(SIGXFSZ, &failed_write, NULL);
    interrupt_install();
    error_file_attach();
    install_last_sentence();

    program = system_program_path();
    if (program == NULL && argv[0] != NULL)
        program = process_find(argv[0]);
    log_sink_init(&sink);
    progress_line_init(&progress);
    sink.progress = &progress;
    parse_init(&parse, &polygraphy);
    struct command_context context = {
        .parse = &parse,
        .log = &sink.log,
        .sink = &sink,
        .command_line = (const char *const *)argv,
        .program = program,
        .progress = &progress,
        .main = main,
    };
    status = dispatch_command(&parse, &sink, &context, argc > 0 ? (size_t)argc - 1 : 0);
    if (sink.write_errno && status == 0) {
        dprintf(STDERR_FILENO, "[!] cannot write the output: %s\n", strerror(sink.write_errno));
        status = exit_status_of(ERR_IO);
    }
    parse_release(&parse);
    log_sink_release(&sink);
    free(program);
    provider_libraries_release();
    if (interrupt_pending())
        interrupt_die();
    return leave_program(status);
}
