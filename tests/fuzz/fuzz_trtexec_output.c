/* tests/fuzz/fuzz_trtexec_output.c: what trtexec writes: help, lines, exported outputs. The first byte says which. */
#include "backend/trtexec/exported_output.h"
#include "backend/trtexec/program.h"
#include "backend/trtexec/report.h"
#include "target.h"

static void read_help(struct text text)
{
    struct trtexec program;

    if (trtexec_parse_help("fuzz", text, &program, NULL) == 0)
        arena_release(&program.arena);
}

static void read_report(struct text text)
{
    struct trtexec_report report;
    struct arena arena;

    arena_init(&arena);
    trtexec_report_read(text, text, &arena, NULL, &report);
    trtexec_report_release(&report);
    arena_release(&arena);
}

static void read_export(struct text text)
{
    struct tensor tensor = {0};

    if (exported_output_read(text, "a", DATA_INT32, &tensor, NULL) == 0)
        tensor_release(&tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = {(const char *)data + 1, size - 1};

    if (size == 0)
        return 0;
    switch (data[0]) {
    case 'h':
        read_help(text);
        break;
    case 'r':
        read_report(text);
        break;
    default:
        read_export(text);
        break;
    }
    return 0;
}
