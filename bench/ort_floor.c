/* bench/ort_floor.c: the lower bound for running a model in ONNX Runtime: loading the library and the model.
 *
 *   ort_floor LIBRARY MODEL
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/onnxrt/abi.h"

static void ignore(void *data, int severity, const char *category, const char *id, const char *where,
                   const char *message)
{
    (void)data, (void)severity, (void)category, (void)id, (void)where, (void)message;
}

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct ort_api_base *(*get_base)(void);
    const struct ort_api *api;
    struct ort_env *environment;
    struct ort_session_options *options;
    struct ort_session *session;

    if (library == NULL) {
        fprintf(stderr, "ort_floor: %s\n", argc == 3 ? dlerror() : "usage: ort_floor LIBRARY MODEL");
        return 2;
    }
    setenv("ORT_DISABLE_TELEMETRY", "1", 1); /* as polygraphy does: without it the library starts a reporting thread */
    *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    api = get_base()->get_api(16);
    if (api->create_env_with_custom_logger(ignore, NULL, 3, "floor", &environment) != NULL ||
        api->create_session_options(&options) != NULL ||
        api->create_session(environment, argv[2], options, &session) != NULL) {
        fputs("ort_floor: the model does not load\n", stderr);
        return 2;
    }
    _Exit(0);
}
