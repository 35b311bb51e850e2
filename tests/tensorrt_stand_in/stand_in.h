/* tests/tensorrt_stand_in/stand_in.h: a library with the binary interface of NVIDIA's TensorRT; it needs no GPU.
 *
 * One library exports what libnvinfer and libnvonnxparser export, and what the two libraries of TensorRT-RTX do. The
 * name of the folder from which it was loaded is the release that it implements (releases.c). This program's own code
 * reads ONNX, and the built-in engine builds and computes; what is tested is the interface: slots, enum values,
 * structures, ownership, the order of calls. Its tables of slots and values (the rows at the end of each file,
 * releases.c) are its own and share nothing with those of the program under test. Calling a method that is not
 * implemented here terminates the process with the class and the slot.
 *
 * Environment variables:
 *   TENSORRT_STAND_IN_RELEASE    the release, whatever the folder
 *   TENSORRT_STAND_IN_FAULTS     names from the list in faults.c, separated by commas
 *   TENSORRT_STAND_IN_ALTERED    "VBuilder.createBuilderConfig": exchanges that method and the one in the next slot;
 *                                "BuilderFlag.kFP16": adds one to that value. A test that still passes is not a test
 *   TENSORRT_STAND_IN_REFUSED    operators that the parser does not know, separated by commas
 *   TENSORRT_STAND_IN_SEED       a number: tactics are drawn at random; @FILE: a different number for each build
 *   TENSORRT_STAND_IN_WRONG_TACTIC   a layer and a pattern: such tactics compute wrong results: "conv=onednn:jit*"
 *   TENSORRT_STAND_IN_WRONG_LAYER    the name of a layer, "conv + relu": engines that contain it compute wrong results
 *   TENSORRT_STAND_IN_RECORD     a file to which each build appends its settings, by TensorRT's names (record.c)
 *   CUDA_STAND_IN_ERROR          the number of the CUDA error that every call returns: 35, 100
 *   CUDA_STAND_IN_DEVICES        the number of devices; cudaSetDevice() records "GPU 1" where that is another one
 *   CUDA_STAND_IN_MEMORY         bytes of device memory
 */
#ifndef TENSORRT_STAND_IN_H
#define TENSORRT_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

/* ---- releases.c ---- */

struct release {
    const char *name; /* of its folder: "10.16" */
    int number;       /* 100 * major + minor; of TensorRT-RTX: that of the TensorRT with the same interfaces */
    int patch;
    int32_t version;        /* what getInferLibVersion() answers */
    int32_t parser_version; /* and getNvOnnxParserVersion() */
    bool is_rtx;
};

const struct release *release_get(void);
static inline bool release_before(int number)
{
    return release_get()->number < number;
}

/* The value that a name has in this release, -1 where it has none. */
int32_t enum_value(const char *type, const char *name);
const char *enum_name(const char *type, int32_t value); /* NULL: no name has this value */
int32_t enum_of_data_type(enum data_type type);         /* -1 as well for what TensorRT has not */
enum data_type data_type_of_enum(int32_t value);

/* ---- faults.c ---- */

bool has_fault(const char *name);
const char *draw_seed(void); /* NULL: none */

/* Ends the process, or never returns, where "crash-<stage>", "abort-<stage>" or "hang-<stage>" is among the faults. */
void end_at_stage(const char *stage);

/* ---- methods.c ---- */

struct method_slot {
    void (*call)(void);
};

/* A method that this library implements, with its slot in each release: "8.5..9.3:9 10.0..10.16:7 rtx:5". An array of
 * rows ends with a row without a class. */
struct method_row {
    const char *class_name, *name, *slots;
    struct method_slot method;
};
#define CALL(function)                                                                                                 \
    {                                                                                                                  \
        (void (*)(void))(function)                                                                                     \
    }

/* Methods that return a member of an object, or set it. */
#define GETTER(function, type, object_type, member)                                                                    \
    static type function(const void *self)                                                                             \
    {                                                                                                                  \
        return ((object_type *)object_of(self))->member;                                                               \
    }
#define SETTER(function, type, object_type, member)                                                                    \
    static bool function(void *self, type value)                                                                       \
    {                                                                                                                  \
        ((object_type *)object_of(self))->member = value;                                                              \
        return true;                                                                                                   \
    }

extern const struct method_row builder_methods[], config_methods[], context_methods[], engine_methods[],
    inspector_methods[], network_methods[], parser_methods[], profile_methods[], refitter_methods[], runtime_methods[],
    selector_methods[], timing_methods[], object_methods[];

bool answer_true(const void *self);
bool answer_false(const void *self);

/* The table of slots of a class: "VBuilder". */
const struct method_slot *methods_of(const char *class_name);

/* The method of an object of the program's own: object[0][slot]. NULL where the release has no such method, and for
 * NULL. */
struct method_slot method_of_program(void *object, const char *class_name, const char *name);

/* ---- objects.c ---- */

/* An object as the program sees it: the words that TensorRT's headers define, then private members. */
struct object {
    const struct method_slot *outer;   /* destructors */
    const void *part, *layer_part;     /* mImpl; of a layer mLayer, and mImpl of its kind */
    const struct method_slot *methods; /* `part` points here */
    const char *class_name;
    void (*release)(void *object);
};

/* Allocates `size` bytes, which begin with a struct object. Memory is not freed before the process ends, so that a call
 * of a method of a deleted object is detected. `release`, which may be NULL, frees what the object refers to. */
void *object_new(size_t size, const char *class_name, void (*release)(void *object));
void *object_of(const void *part);
void delete_object(struct object *object);
void delete_interface(const void *part); /* of a class without mImpl: IParser */
void *plugin_registry(void);

/* ---- report.c ---- */

struct error_recorder; /* the program's IErrorRecorder, or NULL */

enum severity { SEVERITY_INTERNAL_ERROR, SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO, SEVERITY_VERBOSE };

void report_set_logger(void *logger);
void *report_logger(void);
void report_set_recorder(void *recorder);
void report(enum severity severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An error with its code, "kINVALID_ARGUMENT", to the logger and to the recorder. */
void report_error(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Structures that pass by value or by reference: Dims by value up to 9.x, but for setInputShape(). ---- */

enum { MOST_DIMS = 8 };

struct dims32 { /* up to 9.x */
    int32_t count;
    int32_t d[MOST_DIMS];
};
struct dims64 { /* from 10.0 on */
    int32_t count;
    int64_t d[MOST_DIMS];
};
struct weights {
    int32_t type;
    const void *values;
    int64_t count;
};
struct host_memory {
    struct object object;
    char *data;
    size_t size;
};

void dims_read(const void *dims, struct shape *ret);
struct dims32 dims32_of(const struct shape *shape);
struct dims64 dims64_of(const struct shape *shape);
struct object *host_memory_new(const void *data, size_t size); /* copied */

#endif
