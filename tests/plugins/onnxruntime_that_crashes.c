/* A shared library that is ONNX Runtime, that of ONNXRUNTIME_REAL, but crashes where ONNXRUNTIME_CRASHES says:
 *
 *   load:TEXT      when it loads a model whose path ends with TEXT
 *   has:TEXT       when it loads a file in which TEXT is
 *   given:TEXT     when it loads a model from memory in which TEXT is
 *   switches       when it loads a model from memory that has switches in place of quantizers
 *   all-on         when it runs that with all switches on; all-off likewise
 *   alone:TEXT     with only one switch on, in whose name TEXT is
 *   left-out:TEXT  with only one switch off
 *   too-new        it does not crash, but refuses all models as too new
 *
 * A line "ONNXRUNTIME_CRASHES=..." that was appended to its file says the same instead, also to copies of the file.
 *
 * Switches are inputs called "..._is_quantized". */
#define _GNU_SOURCE /* memmem */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SWITCH "_is_quantized"

/* Where the published interface has these functions. */
enum slot {
    CREATE_STATUS = 0,
    CREATE_SESSION = 7,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    GET_TENSOR_MUTABLE_DATA = 51
};

struct status;
typedef void (*any_function)(void);
typedef struct status *create_status_function(int code, const char *message);
typedef struct status *create_session_function(const void *env, const char *path, const void *options, void **ret);
typedef struct status *create_from_array_function(const void *env, const void *data, size_t size, const void *options,
                                                  void **ret);
typedef struct status *run_function(void *session, const void *run_options, const char *const *input_names,
                                    const void *const *inputs, size_t input_count, const char *const *output_names,
                                    size_t output_count, void **outputs);
typedef struct status *get_data_function(const void *value, void **ret);

struct api_base {
    any_function *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

const struct api_base *OrtGetApiBase(void);

static const struct api_base *real;
static create_status_function *create_status;
static create_session_function *real_create_session;
static create_from_array_function *real_create_from_array;
static run_function *real_run;
static get_data_function *get_data;

/* The line at the end of the own file, or NULL. */
static const char *own_places(void)
{
    static const char name[] = "\nONNXRUNTIME_CRASHES=";
    static char end[256];
    Dl_info own;
    FILE *file = dladdr(name, &own) != 0 ? fopen(own.dli_fname, "rb") : NULL;
    size_t size = 0;
    char *line;

    if (file != NULL && fseek(file, 1 - (long)sizeof(end), SEEK_END) == 0)
        size = fread(end, 1, sizeof(end) - 1, file);
    if (file != NULL)
        fclose(file);
    end[size] = '\0';
    line = memmem(end, size, name, strlen(name));
    if (line == NULL)
        return NULL;
    line += strlen(name);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* What stands behind the word, if that is where it crashes. */
static const char *place(const char *word)
{
    const char *own = own_places();
    const char *places = own != NULL ? own : getenv("ONNXRUNTIME_CRASHES");
    size_t size = strlen(word);

    return places != NULL && strncmp(places, word, size) == 0 ? places + size : NULL;
}

static bool file_has(const char *path, const char *text)
{
    static char content[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(content, 1, sizeof(content), file) : 0;

    if (file != NULL)
        fclose(file);
    return memmem(content, size, text, strlen(text)) != NULL;
}

static struct status *create_session(const void *env, const char *path, const void *options, void **ret)
{
    const char *end = place("load:"), *text = place("has:");

    if (place("too-new") != NULL)
        return create_status(1, "Unsupported model IR version: 10, max supported IR version: 9");
    if (end != NULL && strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
        raise(SIGSEGV);
    if (text != NULL && file_has(path, text))
        raise(SIGSEGV);
    return real_create_session(env, path, options, ret);
}

static struct status *create_from_array(const void *env, const void *data, size_t size, const void *options, void **ret)
{
    const char *text = place("given:");

    if (place("switches") != NULL && memmem(data, size, SWITCH, strlen(SWITCH)) != NULL)
        raise(SIGSEGV);
    if (text != NULL && memmem(data, size, text, strlen(text)) != NULL)
        raise(SIGSEGV);
    return real_create_from_array(env, data, size, options, ret);
}

static bool ends(const char *name)
{
    return strlen(name) > strlen(SWITCH) && strcmp(name + strlen(name) - strlen(SWITCH), SWITCH) == 0;
}

static struct status *run(void *session, const void *run_options, const char *const *input_names,
                          const void *const *inputs, size_t input_count, const char *const *output_names,
                          size_t output_count, void **outputs)
{
    const char *last[2] = {"", ""}; /* switch that is off, on */
    const char *alone = place("alone:"), *left_out = place("left-out:");
    size_t count[2] = {0, 0};

    for (size_t i = 0; i < input_count; i++) {
        void *data;

        if (!ends(input_names[i]) || get_data(inputs[i], &data) != NULL)
            continue;
        last[*(const bool *)data] = input_names[i];
        count[*(const bool *)data]++;
    }
    if ((place("all-on") != NULL && count[true] > 0 && count[false] == 0) ||
        (place("all-off") != NULL && count[false] > 0 && count[true] == 0) ||
        (alone != NULL && count[true] == 1 && strstr(last[true], alone) != NULL) ||
        (left_out != NULL && count[false] == 1 && strstr(last[false], left_out) != NULL))
        raise(SIGSEGV);
    return real_run(session, run_options, input_names, inputs, input_count, output_names, output_count, outputs);
}

/* In the real library's own table, whose size nobody tells. */
static void replace(any_function *table)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)&table[CREATE_SESSION] / page * page;
    uintptr_t end = (uintptr_t)&table[RUN + 1];

    mprotect((void *)first, end - first, PROT_READ | PROT_WRITE);
    create_status = (create_status_function *)table[CREATE_STATUS];
    real_create_session = (create_session_function *)table[CREATE_SESSION];
    real_create_from_array = (create_from_array_function *)table[CREATE_SESSION_FROM_ARRAY];
    real_run = (run_function *)table[RUN];
    get_data = (get_data_function *)table[GET_TENSOR_MUTABLE_DATA];
    table[CREATE_SESSION] = (any_function)create_session;
    table[CREATE_SESSION_FROM_ARRAY] = (any_function)create_from_array;
    table[RUN] = (any_function)run;
}

static any_function *get_api(uint32_t version)
{
    any_function *table = real->get_api(version);

    if (table != NULL && table[RUN] != (any_function)run)
        replace(table);
    return table;
}

static const char *get_version(void)
{
    return real->get_version();
}

const struct api_base *OrtGetApiBase(void)
{
    static const struct api_base base = {get_api, get_version};
    const struct api_base *(*get_base)(void);
    void *library = dlopen(getenv("ONNXRUNTIME_REAL"), RTLD_NOW), *symbol;

    if (library == NULL)
        return NULL;
    symbol = dlsym(library, "OrtGetApiBase");
    memcpy(&get_base, &symbol, sizeof(get_base));
    real = get_base();
    return &base;
}
