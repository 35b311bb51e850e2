/* backend/onnxrt/providers.c: see providers.h. */
#include "backend/onnxrt/providers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"

static const char cpu_provider[] = "CPUExecutionProvider";

static const char *match(const struct onnxrt_providers *providers, const char *typed)
{
    for (int i = 0; i < providers->available_count; i++)
        if (strcmp(providers->available[i], typed) == 0)
            return providers->available[i];
    for (int i = 0; i < providers->available_count; i++) {
        struct text name = text_of(providers->available[i]);

        if (text_contains_ignoring_case(name, text_of(typed)) || text_contains_ignoring_case(text_of(typed), name))
            return providers->available[i];
    }
    return NULL;
}

/* Names as Python shows a list of strings. */
static char *list_to_text(const char *const *names, size_t count)
{
    struct string_builder text;

    string_init(&text);
    string_add_char(&text, '[');
    for (size_t i = 0; i < count; i++)
        string_add_format(&text, "%s'%s'", i > 0 ? ", " : "", names[i]);
    string_add_char(&text, ']');
    return string_take(&text);
}

int onnxrt_providers_init(const struct onnxrt *ort, const char *const *typed, struct onnxrt_providers *ret,
                          struct error *err)
{
    static const char *const cpu_alone[] = {cpu_provider, NULL};
    struct onnxrt_providers providers = {.ort = ort};
    size_t count = 0;
    int rc;

    if (!typed || !typed[0])
        typed = cpu_alone;
    rc = onnxrt_check(ort, ort->api->available_providers(&providers.available, &providers.available_count), err,
                      "ONNX Runtime does not tell its execution providers");
    if (rc < 0)
        return rc;
    while (typed[count])
        count++;
    providers.chosen = memory_alloc(count * sizeof(*providers.chosen));
    for (size_t i = 0; i < count; i++) {
        const char *name = match(&providers, typed[i]);

        if (!name) {
            char *available = list_to_text((const char *const *)providers.available, (size_t)providers.available_count);

            rc = error_set(err, ERR_INVALID,
                           "Could not find specified ONNX-Runtime execution provider: '%s'; this ONNX Runtime has %s",
                           typed[i], available);
            free(available);
            onnxrt_providers_release(&providers);
            return rc;
        }
        providers.chosen[providers.chosen_count++] = name;
    }
    *ret = providers;
    return 0;
}

void onnxrt_providers_release(struct onnxrt_providers *providers)
{
    if (providers->available) {
        struct ort_status *status =
            providers->ort->api->release_available_providers(providers->available, providers->available_count);

        if (status)
            providers->ort->api->release_status(status);
    }
    free(providers->chosen);
    *providers = (struct onnxrt_providers){0};
}

char *onnxrt_providers_to_text(const struct onnxrt_providers *providers)
{
    return list_to_text(providers->chosen, providers->chosen_count);
}

static struct ort_status *append_cuda(const struct ort_api *api, struct ort_session_options *options)
{
    struct ort_cuda_options *cuda = NULL;
    struct ort_status *status = api->create_cuda_options(&cuda);

    if (!status)
        status = api->append_cuda(options, cuda);
    if (cuda)
        api->release_cuda_options(cuda);
    return status;
}

static struct ort_status *append_tensorrt(const struct ort_api *api, struct ort_session_options *options)
{
    struct ort_tensorrt_options *tensorrt = NULL;
    struct ort_status *status = api->create_tensorrt_options(&tensorrt);

    if (!status)
        status = api->append_tensorrt(options, tensorrt);
    if (tensorrt)
        api->release_tensorrt_options(tensorrt);
    return status;
}

static bool chosen_before(const struct onnxrt_providers *providers, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(providers->chosen[i], providers->chosen[index]) == 0)
            return true;
    return false;
}

/* The runtime puts the processor behind all others by itself. It runs every operator, so nothing that was chosen
 * after it would get one. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err)
{
    const struct onnxrt *ort = providers->ort;
    int rc = 0;

    for (size_t i = 0; i < providers->chosen_count && rc == 0; i++) {
        const char *name = providers->chosen[i];
        struct ort_status *status;

        if (strcmp(name, cpu_provider) == 0)
            return 0;
        if (chosen_before(providers, i))
            continue;
        if (strcmp(name, "CUDAExecutionProvider") == 0)
            status = append_cuda(ort->api, options);
        else if (strcmp(name, "TensorrtExecutionProvider") == 0)
            status = append_tensorrt(ort->api, options);
        else
            status = ort->api->append_provider(options, name, NULL, NULL, 0);
        rc = onnxrt_check(ort, status, err, "ONNX Runtime's %s does not work here", name);
    }
    return rc;
}
