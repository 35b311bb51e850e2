/* tests/programs/trtexec_stand_in/engine_file.c: TensorRT's first bytes, names of debug tensors, a plan. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"
#include "engine/plan/plan.h"
#include "programs/trtexec_stand_in/stand_in.h"

/* Of the header, and of the names behind it: a plan is mapped. */
#define ALIGNMENT 64

enum { AT_VERSION = 24, AT_NAMES_SIZE = 32, AT_DETAILED = 40, AT_STRIPPED = 41, AT_TYPES = 44 };

int engine_fails(const char *stage, const struct error *err)
{
    if (err != NULL)
        say('E', "[TRT] %s", err->message);
    if (stage != NULL)
        say('E', "%s", stage);
    say('E', "Failed to create engine from model or file.");
    say('E', "Engine set up failed");
    return 1;
}

int engine_save(const struct loaded_engine *loaded, const char *path, struct error *err)
{
    struct string_builder names;
    char *plan = file_temporary_name(path);
    uint8_t header[ALIGNMENT] = "ftrt";
    struct file_writer writer = {0};
    struct file_map map = {0};
    int rc = plan_save(loaded->engine, plan, err);

    string_init(&names);
    for (size_t i = 0; i < loaded->debug_names.count; i++)
        string_add_bytes(&names, loaded->debug_names.items[i], strlen(loaded->debug_names.items[i]) + 1);
    while (names.size % ALIGNMENT != 0)
        string_add_char(&names, '\0');
    memcpy(header + AT_VERSION, stand_in.numbers, sizeof(stand_in.numbers));
    memcpy(header + AT_NAMES_SIZE, &names.size, sizeof(names.size));
    header[AT_DETAILED] = loaded->detailed;
    header[AT_STRIPPED] = loaded->stripped;
    memcpy(header + AT_TYPES, loaded->types, sizeof(loaded->types));
    if (rc == 0)
        rc = file_map_open(plan, &map, err);
    if (rc < 0)
        goto done;
    rc = file_writer_open(&writer, path, err);
    if (rc < 0)
        goto done;
    file_writer_add(&writer, header, sizeof(header), err);
    file_writer_add(&writer, names.data, names.size, err);
    file_writer_copy(&writer, map.fd, 0, map.size, err);
    rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
    say('I', "Created engine with size: %g MiB", (double)(map.size + names.size + sizeof(header)) / (1 << 20));
done:
    if (map.data != NULL)
        file_map_release(&map);
    unlink(plan);
    free(plan);
    string_release(&names);
    return rc;
}

static void read_names(struct loaded_engine *loaded, const char *names, size_t size)
{
    const char **items = memory_alloc_zero(size + 1, sizeof(*items));

    loaded->debug_names.items = items;
    for (const char *name = names; name < names + size && *name != '\0'; name += strlen(name) + 1)
        items[loaded->debug_names.count++] = name;
}

static int deserialize(const char *path, struct loaded_engine *ret, struct error *err)
{
    struct provider_settings providers = {.runtime = &stand_in_runtime, .threads = 1, .log = &provider_log};
    const struct file_map *map = &ret->map;
    uint64_t names = 0;

    if (map->size > ALIGNMENT)
        memcpy(&names, map->data + AT_NAMES_SIZE, sizeof(names));
    if (map->size <= ALIGNMENT || memcmp(map->data, "ftrt", 4) != 0 || names > map->size - ALIGNMENT)
        return error_set(err, ERR_CORRUPT,
                         "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion "
                         "header.magicTag == kMAGIC_TAG failed.)");
    if (memcmp(map->data + AT_VERSION, stand_in.numbers, 2) != 0)
        return error_set(err, ERR_CORRUPT,
                         "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion "
                         "stdVersionRead == kSERIALIZATION_VERSION failed.Version tag does not match)");
    ret->detailed = map->data[AT_DETAILED] != 0;
    ret->stripped = map->data[AT_STRIPPED] != 0;
    memcpy(ret->types, map->data + AT_TYPES, sizeof(ret->types));
    read_names(ret, (const char *)map->data + ALIGNMENT, names);
    return plan_parse((struct span){map->data + ALIGNMENT + names, map->size - ALIGNMENT - names}, path, &providers,
                      &ret->engine, err);
}

int load_engine(const char *path, struct loaded_engine *ret)
{
    double start = stopwatch_now();
    struct error err = {0};

    if (file_map_open(path, &ret->map, &err) < 0) {
        say('E', "Error opening engine file: %s", path);
        return engine_fails(NULL, NULL);
    }
    if (ret->map.size == 0) {
        say('E', "Assertion failure: false && \"Attempting to access an empty engine!\"");
        return 2;
    }
    if (deserialize(path, ret, &err) == 0) {
        say('I', "Engine deserialized in %g sec.", stopwatch_now() - start);
        return 0;
    }
    say('E', "[TRT] %s", err.message);
    say('E', "Engine deserialization failed");
    ret->engine = NULL;
    return given("skipInference") ? 0 : engine_fails(NULL, NULL);
}
