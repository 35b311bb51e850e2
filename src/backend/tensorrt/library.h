/* backend/tensorrt/library.h: TensorRT's library as loaded into this process, and calls of its methods.
 *
 *   builder = tensorrt_object(trt->create_builder(logger, trt->number));
 *   config = tensorrt_object(TENSORRT_GET(VBuilder, createBuilderConfig, builder));
 *   TENSORRT_CALL(VBuilderConfig, setFlag, config, flag);
 *   tensorrt_delete(config);
 *
 * There is one library in a process. A method that only some releases have is asked for by tensorrt_require() first.
 */
#ifndef BACKEND_TENSORRT_LIBRARY_H
#define BACKEND_TENSORRT_LIBRARY_H

#include "backend/tensorrt/abi/values.h"
#include "backend/tensorrt/search.h"
#include "tensor/values/tensor.h"

struct tensorrt {
    struct tensorrt_place place;
    int major, minor, patch;
    int32_t number;          /* as the library writes its version */
    const char *parser_path; /* NULL: there is no parser */
    int32_t parser_number;
    struct {
        short number, since; /* since 0: there is no such method */
    } slots[TENSORRT_METHODS];
    enum tensorrt_series series;
    void *(*create_builder)(void *logger, int32_t number); /* NULL: it has no builder */
    void *(*create_runtime)(void *logger, int32_t number);
    void *(*create_refitter)(void *engine, void *logger, int32_t number);          /* NULL: it has none */
    void *(*create_parser)(void *network, void *logger, int32_t number);           /* NULL: there is no parser */
    void *(*create_parser_refitter)(void *refitter, void *logger, int32_t number); /* NULL: it has none */
    bool (*register_plugins)(void *logger, const char *name);                      /* NULL: it brings none */
};

/* Finds and loads the library, and its parser where it is there. What is loaded stays. ERR_MISSING: none was found;
 * ERR_UNSUPPORTED: a release that is not known here. */
int tensorrt_load(const struct tensorrt **ret, struct error *err);

/* Appends "TensorRT 10.16.1" or "TensorRT-RTX 1.7.1". */
void tensorrt_describe(const struct tensorrt *trt, struct string_builder *ret);

/* Whether the loaded release is one before `major`. TensorRT-RTX 1.7 is like 11. */
bool tensorrt_is_before(int major);

/* ---- Methods ---- */

bool tensorrt_has(enum tensorrt_method method);

/* ERR_UNSUPPORTED: this release does not have the method, which `wish` (an option) needs. */
int tensorrt_require(enum tensorrt_method method, const char *wish, struct error *err);

/* Returned pointers below one page are NULL plus the offset of a base class. */
void *tensorrt_object(void *pointer);

void tensorrt_delete(void *object); /* NULL is fine */

typedef void tensorrt_function(void);

/* The function of a method that is there, and the first argument it takes. Ends the process otherwise. */
tensorrt_function *tensorrt_function_of(enum tensorrt_method method, void *object);
void *tensorrt_self(enum tensorrt_method method, void *object);

/* Calls a method without arguments, and one with some. */
#define TENSORRT_GET(class, method, object)                                                                            \
    ((tensorrt_##class##_##method *)tensorrt_function_of(TENSORRT_METHOD(class, method), object))(                     \
        tensorrt_self(TENSORRT_METHOD(class, method), object))
#define TENSORRT_CALL(class, method, object, ...)                                                                      \
    ((tensorrt_##class##_##method *)tensorrt_function_of(TENSORRT_METHOD(class, method), object))(                     \
        tensorrt_self(TENSORRT_METHOD(class, method), object), __VA_ARGS__)

/* ---- Values ---- */

/* The value of an enum that is called `word`, in letters of any case. ERR_INVALID lists what this release has;
 * `option` is what the user wrote it after. */
int tensorrt_value_find(enum tensorrt_value_kind kind, const char *word, const char *option, int32_t *ret,
                        struct error *err);

/* The same for a name that this program brings; false: this release does not have it. */
bool tensorrt_value_of(enum tensorrt_value_kind kind, const char *name, int32_t *ret);

/* NULL: no name is known. */
const char *tensorrt_value_name(enum tensorrt_value_kind kind, int32_t value);

/* DATA_UNDEFINED; -1: there is none. */
enum data_type tensorrt_type_from(int32_t value);
int32_t tensorrt_type_to(enum data_type type);

#define TENSORRT_ON_HOST 1 /* TensorLocation::kHOST */

/* Dims in both forms. A shape of more than eight dimensions has no such form: false. */
bool tensorrt_dims_set(const struct shape *shape, union tensorrt_dims *ret);
bool tensorrt_dims_get(const union tensorrt_dims *dims, struct shape *ret); /* false: of unknown rank */

#endif
