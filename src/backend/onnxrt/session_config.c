/* backend/onnxrt/session_config.c: see session_config.h. */
#include "backend/onnxrt/session_config.h"

#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

#define LONGEST_KEY 128 /* the runtime's bound up to release 1.22 */

/* What keys begin with. */
static const struct text areas[] = {{"session.", 8}, {"optimization.", 13}, {"ep.", 3}, {"mlas.", 5}};

static bool is_of_a_key(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static struct text after(struct text whole, const char *place)
{
    return (struct text){place, (size_t)(whole.data + whole.size - place)};
}

/* Offers each text of the library that begins with `area` and looks like a key. */
static void offer_keys(struct text library, struct text area, struct close_names *names)
{
    const char *found;

    while ((found = memmem(library.data, library.size, area.data, area.size)) != NULL) {
        struct text rest = after(library, found);
        struct text key = {found, area.size};

        while (key.size < rest.size && key.size <= LONGEST_KEY && is_of_a_key(found[key.size]))
            key.size++;
        if (key.size > area.size && key.size < rest.size && found[key.size] == '\0')
            close_names_offer(names, key);
        library = after(library, found + area.size);
    }
}

bool onnxrt_session_config_knows(struct text library, const char *key, struct string_builder *ret)
{
    struct close_names names;

    if (memmem(library.data, library.size, key, strlen(key) + 1) != NULL)
        return true;
    close_names_start(&names, text_of(key));
    for (size_t i = 0; i < ARRAY_LEN(areas); i++)
        offer_keys(library, areas[i], &names);
    close_names_add_to(&names, ret);
    return false;
}

/* Providers have libraries of their own, which may know keys that the runtime's does not. */
static void warn_of_unknown(const struct onnxrt *ort, const struct backend_settings *config, struct log *log)
{
    struct string_builder instead;
    struct file_map map;

    if (config->count == 0 || ort->path == NULL || file_map_open(ort->path, &map, NULL) < 0)
        return;
    string_init(&instead);
    for (size_t i = 0; i < config->count; i++) {
        const struct text library = {(const char *)map.data, map.size};

        string_clear(&instead);
        if (!onnxrt_session_config_knows(library, config->items[i].key, &instead))
            log_once(log, LOG_WARNING,
                     "--session-config %s: the library of ONNX Runtime %s does not hold this name, so that nothing "
                     "may come of it%s",
                     config->items[i].key, ort->version, instead.size > 0 ? instead.data : "");
    }
    string_release(&instead);
    file_map_release(&map);
}

int onnxrt_session_config_add(const struct onnxrt *ort, const struct backend_settings *config,
                              struct ort_session_options *options, struct log *log, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < config->count && rc == 0; i++)
        rc = onnxrt_check(ort, ort->api->add_session_config(options, config->items[i].key, config->items[i].value), err,
                          "ONNX Runtime does not take --session-config %s=%s", config->items[i].key,
                          config->items[i].value);
    if (rc == 0)
        warn_of_unknown(ort, config, log);
    return rc;
}
