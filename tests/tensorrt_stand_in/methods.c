/* tests/tensorrt_stand_in/methods.c: the tables of slots of a release, made from the rows of all files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorrt_stand_in/stand_in.h"

enum { MOST_SLOTS = 128, MOST_CLASSES = 32 };

/* Methods that the program implements and this library calls. */
static const struct method_row interface_methods[] = {
    {"ILogger", "log", "8.5..10.16:0 11.0..11.1:4 rtx:4", {NULL}},
    {"IProfiler", "reportLayerTime", "8.5..10.16:0 11.0..11.1:4 rtx:4", {NULL}},
    {"IErrorRecorder", "reportError", "8.5..9.3:7 10.0..11.1:9 rtx:9", {NULL}},
    {"IOutputAllocator", "reallocateOutput", "8.5..9.3:1 10.0..11.1:4 rtx:4", {NULL}},
    {"IOutputAllocator", "reallocateOutputAsync", "10.0..11.1:5 rtx:5", {NULL}},
    {"IOutputAllocator", "notifyShape", "8.5..9.3:2 10.0..11.1:6 rtx:6", {NULL}},
    {"IProgressMonitor", "phaseStart", "9.3:2 10.0..11.1:4 rtx:4", {NULL}},
    {"IProgressMonitor", "stepComplete", "9.3:3 10.0..11.1:5 rtx:5", {NULL}},
    {"IProgressMonitor", "phaseFinish", "9.3:4 10.0..11.1:6 rtx:6", {NULL}},
    {"IDebugListener", "processDebugTensor", "10.0..11.1:4 rtx:4", {NULL}},
    {"IAlgorithmSelector", "selectAlgorithms", "8.5..9.3:0 10.0..10.16:4", {NULL}},
    {"IAlgorithmSelector", "reportAlgorithms", "8.5..9.3:1 10.0..10.16:5", {NULL}},
    {"IInt8Calibrator", "readCalibrationCache", "8.5..9.3:2 10.0..10.16:6", {NULL}},
    {"IInt8Calibrator", "getBatch", "8.5..9.3:1 10.0..10.16:5", {NULL}},
    {"IInt8Calibrator", "writeCalibrationCache", "8.5..9.3:3 10.0..10.16:7", {NULL}},
    {"IStreamReader", "read", "10.0..11.1:4 rtx:4", {NULL}},
    {"IStreamReaderV2", "read", "10.7..11.1:4 rtx:4", {NULL}},
    {"IStreamWriter", "write", "10.13..11.1:4 rtx:4", {NULL}},
    {NULL, NULL, NULL, {NULL}},
};

static const struct method_row *const all_rows[] = {
    interface_methods, builder_methods, config_methods,   context_methods, engine_methods,
    inspector_methods, network_methods, parser_methods,   profile_methods, refitter_methods,
    runtime_methods,   timing_methods,  selector_methods, object_methods,
};

/* ---- Slots without a method ---- */

static void report_unknown(const void *part, int slot)
{
    struct object *object = object_of(part);

    fprintf(stderr, "the stand-in for TensorRT %s has no method in slot %d of %s\n", release_get()->name, slot,
            object->class_name);
    abort();
}

#define UNKNOWN(n)                                                                                                     \
    static void call_slot_##n(const void *part)                                                                        \
    {                                                                                                                  \
        report_unknown(part, 0x##n);                                                                                   \
    }
#define UNKNOWN_8(n)                                                                                                   \
    UNKNOWN(n##0)                                                                                                      \
    UNKNOWN(n##1)                                                                                                      \
    UNKNOWN(n##2)                                                                                                      \
    UNKNOWN(n##3)                                                                                                      \
    UNKNOWN(n##4)                                                                                                      \
    UNKNOWN(n##5)                                                                                                      \
    UNKNOWN(n##6)                                                                                                      \
    UNKNOWN(n##7)                                                                                                      \
    UNKNOWN(n##8) UNKNOWN(n##9) UNKNOWN(n##a) UNKNOWN(n##b) UNKNOWN(n##c) UNKNOWN(n##d) UNKNOWN(n##e) UNKNOWN(n##f)
#define SLOT(n) CALL(call_slot_##n)
#define SLOTS_8(n)                                                                                                     \
    SLOT(n##0), SLOT(n##1), SLOT(n##2), SLOT(n##3), SLOT(n##4), SLOT(n##5), SLOT(n##6), SLOT(n##7), SLOT(n##8),        \
        SLOT(n##9), SLOT(n##a), SLOT(n##b), SLOT(n##c), SLOT(n##d), SLOT(n##e), SLOT(n##f)

UNKNOWN_8(0)
UNKNOWN_8(1)
UNKNOWN_8(2)
UNKNOWN_8(3)
UNKNOWN_8(4)
UNKNOWN_8(5)
UNKNOWN_8(6)
UNKNOWN_8(7)

static const struct method_slot unknown_slots[MOST_SLOTS] = {
    SLOTS_8(0), SLOTS_8(1), SLOTS_8(2), SLOTS_8(3), SLOTS_8(4), SLOTS_8(5), SLOTS_8(6), SLOTS_8(7),
};

/* ---- Slots of a release ---- */

/* "10.16" is 1016. */
static int read_release(const char **text)
{
    char *end;
    long major = strtol(*text, &end, 10), minor = 0;

    if (*end == '.' && end[1] != '.')
        minor = strtol(end + 1, &end, 10);
    *text = end;
    return (int)(100 * major + minor);
}

/* The slot of this release in "8.5..9.3:9 10.0..10.16:7 rtx:5"; -1: none. */
static int find_slot(const char *slots)
{
    const struct release *release = release_get();

    while (*slots != '\0') {
        bool applies;

        if (strncmp(slots, "rtx", 3) == 0) {
            applies = release->is_rtx;
            slots += 3;
        } else {
            int first = read_release(&slots), last = first;

            if (strncmp(slots, "..", 2) == 0) {
                slots += 2;
                last = read_release(&slots);
            }
            applies = !release->is_rtx && first <= release->number && release->number <= last;
        }
        if (applies)
            return (int)strtol(slots + 1, NULL, 10);
        slots += strcspn(slots, " ");
        slots += *slots == ' ';
    }
    return -1;
}

static bool is_altered(const struct method_row *row)
{
    const char *altered = getenv("TENSORRT_STAND_IN_ALTERED");
    size_t size = strlen(row->class_name);

    return altered != NULL && strncmp(altered, row->class_name, size) == 0 && altered[size] == '.' &&
           strcmp(altered + size + 1, row->name) == 0;
}

static void fill_slots(const char *class_name, struct method_slot *ret)
{
    int altered = -1;

    memcpy(ret, unknown_slots, sizeof(unknown_slots));
    for (size_t i = 0; i < ARRAY_LEN(all_rows); i++)
        for (const struct method_row *row = all_rows[i]; row->class_name != NULL; row++) {
            int slot = strcmp(row->class_name, class_name) == 0 ? find_slot(row->slots) : -1;

            if (slot >= 0 && slot < MOST_SLOTS - 1) {
                ret[slot] = row->method;
                altered = is_altered(row) ? slot : altered;
            }
        }
    if (altered >= 0) {
        struct method_slot moved = ret[altered];

        ret[altered] = ret[altered + 1];
        ret[altered + 1] = moved;
    }
}

const struct method_slot *methods_of(const char *class_name)
{
    static struct {
        const char *class_name;
        struct method_slot slots[MOST_SLOTS];
    } classes[MOST_CLASSES];
    size_t i = 0;

    while (i < MOST_CLASSES && classes[i].class_name != NULL && strcmp(classes[i].class_name, class_name) != 0)
        i++;
    if (i == MOST_CLASSES)
        abort();
    if (classes[i].class_name == NULL) {
        classes[i].class_name = class_name;
        fill_slots(class_name, classes[i].slots);
    }
    return classes[i].slots;
}

struct method_slot method_of_program(void *object, const char *class_name, const char *name)
{
    for (const struct method_row *row = interface_methods; object != NULL && row->class_name != NULL; row++)
        if (strcmp(row->class_name, class_name) == 0 && strcmp(row->name, name) == 0) {
            int slot = find_slot(row->slots) + is_altered(row);

            if (slot >= 0)
                return (*(struct method_slot *const *)object)[slot];
        }
    return (struct method_slot){NULL};
}
