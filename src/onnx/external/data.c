/* onnx/external/data.c: see data.h. */
#include "onnx/external/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/identity.h"
#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

bool external_data_leads_out(const char *location)
{
    const char *part = location;

    if (location[0] == '/' || location[0] == '\0')
        return true;
    while (part != NULL) {
        if (part[0] == '/')
            part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
        part = strchr(part, '/');
    }
    return false;
}

static bool path_lies_inside(const char *path, const char *folder)
{
    size_t size = strlen(folder);

    return strncmp(path, folder, size) == 0 && (path[size] == '/' || (size > 0 && folder[size - 1] == '/'));
}

int external_data_location(const char *path, const char *folder, char **ret, struct error *err)
{
    char *inside SCOPED_FREE = file_join(folder, "x");
    char *place SCOPED_FREE = file_place(inside), *target SCOPED_FREE = file_place(path);
    char *real SCOPED_FREE = file_folder(place), *base SCOPED_FREE = file_basename(path);
    const char *location = path;
    int rc = 0;

    if (path[0] == '/' && path_lies_inside(target, real))
        location = target + strlen(real) + (strcmp(real, "/") != 0);
    if (external_data_leads_out(location))
        rc = error_set(err, ERR_INVALID,
                       "external data '%s' would be outside of '%s', the folder of the model: give a path in that "
                       "folder, or a name alone, like '%s'",
                       path, real, base);
    else
        *ret = memory_strdup(location);
    return rc;
}

int external_data_path(const struct model *model, struct text location, char **ret, struct error *err)
{
    char *name SCOPED_FREE = memory_copy(location.data, location.size);
    char *joined SCOPED_FREE = file_join(model->folder, name);
    char *folder SCOPED_FREE = file_real_path(model->folder);
    char *real SCOPED_FREE = NULL;
    struct stat status;

    if (strlen(name) != location.size || external_data_leads_out(name))
        return error_set(err, ERR_CORRUPT, "%s: external data '%s' are outside of the model's folder: refused",
                         model->display_name, name);
    real = file_real_path(joined);
    if (real == NULL || folder == NULL)
        return error_set_errno(err, errno == ENOENT ? ERR_MISSING : ERR_IO,
                               "%s: cannot find external data '%s' (specify their folder with --external-data-dir)",
                               model->display_name, joined);
    if (!path_lies_inside(real, folder))
        return error_set(err, ERR_CORRUPT, "%s: external data '%s': symlink escapes the model's folder: refused",
                         model->display_name, name);
    if (stat(real, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(err, ERR_INVALID,
                         "%s: external data '%s' are not a regular file, but a folder, a pipe or a device",
                         model->display_name, name);
    *ret = real;
    real = NULL;
    return 0;
}

/* Pages of a mapping are released each time this many bytes of it were passed. */
#define FORGET_STEP ((ptrdiff_t)4 << 20)

/* Distinct locations in order of first use. */
struct locations {
    const char *file_name;      /* in errors */
    const struct file_map *map; /* scanned from its start to its end; or NULL */
    const uint8_t *forgotten;   /* its pages up to here */
    struct text_list *list;
    struct name_map met;
};

static int add_data_location(struct locations *locations, struct span tensor, struct error *err)
{
    struct text_list *list = locations->list;
    struct tensor_header header;
    int rc = tensor_proto_read(tensor, &header, err);

    if (rc < 0)
        return error_context(err, "%s", locations->file_name);
    if (locations->map != NULL && tensor.data > locations->forgotten + FORGET_STEP) {
        file_map_forget(locations->map, 0, (size_t)(tensor.data - locations->map->data));
        locations->forgotten = tensor.data;
    }
    if (header.external &&
        name_map_add(&locations->met, header.place.location, (uint32_t)list->count) == (uint32_t)list->count)
        *VECTOR_APPEND(list) = header.place.location;
    return 0;
}

/* Fields of a message that contain tensors: first the field that is a tensor, then nested messages. */
static const uint32_t node_fields[] = {0, NODE_ATTRIBUTE, 0};
static const uint32_t attribute_fields[] = {ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS};
static const uint32_t graph_fields[] = {GRAPH_INITIALIZER, GRAPH_NODE, 0};
static const uint32_t function_fields[] = {0, FUNCTION_NODE, 0};
static const uint32_t function_default_fields[] = {0, FUNCTION_DEFAULT, 0};

static const uint32_t *fields_below(const uint32_t *numbers)
{
    if (numbers == node_fields || numbers == function_default_fields)
        return attribute_fields;
    return numbers == attribute_fields ? graph_fields : node_fields;
}

static int scan_message_locations(struct locations *locations, struct span message, const uint32_t *numbers,
                                  unsigned depth, struct error *err)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && depth < 3 * BODY_MAX_DEPTH && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == numbers[0])
            rc = add_data_location(locations, field.bytes, err);
        else if (field.number == numbers[1] || field.number == numbers[2])
            rc = scan_message_locations(locations, field.bytes, fields_below(numbers), depth + 1, err);
    }
    return rc;
}

static int scan_function_locations(struct locations *locations, struct span function, struct error *err)
{
    int rc = scan_message_locations(locations, function, function_fields, 0, err);

    return rc == 0 ? scan_message_locations(locations, function, function_default_fields, 0, err) : rc;
}

static int add_initializer_locations(struct locations *locations, const struct subgraph *subgraph, struct error *err)
{
    const struct model *model = subgraph->model;
    struct bitset used = {0}; /* computed on demand: most models have no external data */
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];

        if (initializer->sparse || initializer->inside)
            continue;
        if (used.words == NULL) {
            bitset_init(&used, model->values.count);
            subgraph_used_values(subgraph, &used);
        }
        if (bitset_has(&used, initializer->value))
            rc = add_data_location(locations, initializer->message, err);
    }
    bitset_release(&used);
    return rc;
}

static int add_node_locations(struct locations *locations, const struct subgraph *subgraph, struct error *err)
{
    const struct model *model = subgraph->model;
    const struct bitset *nodes = &subgraph->nodes;
    struct span function;
    size_t place = 0;
    int rc = 0;

    BITSET_EACH (i, nodes) {
        const struct node *node = &model->nodes.items[i];

        if (!node->has_tensors && !node->has_subgraphs)
            continue;
        rc = scan_message_locations(locations, node->message, node_fields, 0, err);
        if (rc < 0)
            return rc;
    }
    /* all functions, because they are written with every subgraph */
    while (rc == 0 && model_next_function(model, &place, &function))
        rc = scan_function_locations(locations, function, err);
    return rc;
}

int external_data_locations(const struct subgraph *subgraph, struct text_list *ret, struct error *err)
{
    struct locations locations = {.file_name = subgraph->model->display_name, .list = ret};
    int rc;

    name_map_init(&locations.met);
    rc = add_initializer_locations(&locations, subgraph, err);
    if (rc == 0)
        rc = add_node_locations(&locations, subgraph, err);
    name_map_release(&locations.met);
    return rc;
}

int external_data_list(const struct file_map *map, const char *file_name, struct text_list *ret, struct error *err)
{
    struct locations locations = {.file_name = file_name, .map = map, .forgotten = map->data, .list = ret};
    struct wire_reader reader = wire_reader_of((struct span){map->data, map->size});
    struct wire_field field;
    int rc = 0;

    name_map_init(&locations.met);
    while (rc == 0 && wire_next(&reader, &field))
        if (field.type == WIRE_BYTES && field.number == MODEL_GRAPH)
            rc = scan_message_locations(&locations, field.bytes, graph_fields, 0, err);
        else if (field.type == WIRE_BYTES && field.number == MODEL_FUNCTIONS)
            rc = scan_function_locations(&locations, field.bytes, err);
    name_map_release(&locations.met);
    return rc;
}

int external_data_hash(const struct model *model, struct hash *hash, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    subgraph_init_whole(&whole, model);
    rc = external_data_locations(&whole, &locations, err);
    for (size_t i = 0; rc == 0 && i < locations.count; i++) {
        struct hash content;
        char *path SCOPED_FREE = NULL;

        rc = external_data_path(model, locations.items[i], &path, err);
        if (rc < 0)
            break;
        rc = file_content_hash(path, &content, err);
        if (rc == 0)
            *hash = hash_combine(*hash, content);
    }
    return rc;
}

static int copy_data_file(const char *from, const char *to, struct error *err)
{
    struct file_map map SCOPED(file_map_release) = {0};
    struct file_writer writer;
    struct stat status;
    int rc = file_map_open(from, &map, err);

    if (rc < 0)
        return rc;
    file_remove_leftovers(to);
    if (fstat(map.fd, &status) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot access '%s'", from);
    else
        rc = file_writer_open_like(&writer, to, &status, err);
    if (rc == 0) {
        rc = file_writer_copy(&writer, map.fd, 0, map.size, err);
        if (rc == 0)
            rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
        file_writer_release(&writer);
    }
    return rc;
}

/* An identical copy from an earlier run on another file system can be reused. */
static int files_hold_the_same(const char *from, const char *to, struct error *err)
{
    struct stat source, destination;
    struct hash a, b;
    int rc;

    if (stat(from, &source) < 0)
        return error_set_errno(err, ERR_IO, "cannot access '%s'", from);
    if (stat(to, &destination) < 0) /* a dangling link */
        return 0;
    if (source.st_ino == destination.st_ino && source.st_dev == destination.st_dev)
        return 1;
    if (!S_ISREG(destination.st_mode) || source.st_size != destination.st_size)
        return 0;
    rc = file_content_hash(from, &a, err);
    if (rc == 0)
        rc = file_content_hash(to, &b, err);
    return rc < 0 ? rc : hash_equal(a, b);
}

static void list_missing_folders(const char *path, struct path_list *ret)
{
    char *folder = file_folder(path);

    if (file_exists(folder)) {
        free(folder);
        return;
    }
    list_missing_folders(folder, ret);
    *VECTOR_APPEND(ret) = folder;
}

/* Whether both names are hard links to the same file: `from` is a real path. A symbolic link is kept: the user created
 * it. */
static bool is_hard_link(const char *from, const char *to)
{
    struct stat source, destination;
    char *real SCOPED_FREE = file_real_path(to);

    return real != NULL && strcmp(real, from) != 0 && stat(from, &source) == 0 && stat(real, &destination) == 0 &&
           source.st_ino == destination.st_ino && source.st_dev == destination.st_dev;
}

/* Does nothing if the file exists. */
static int provide_data_file(const char *from, const char *to, bool may_be_link, struct path_list *ret_made,
                             struct error *err)
{
    int rc;

    if (file_exists(to)) {
        rc = files_hold_the_same(from, to, err);
        if (rc > 0 && !may_be_link && is_hard_link(from, to))
            return copy_data_file(from, to, err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        return error_set(err, ERR_EXISTS,
                         "'%s' exists and is not the external data of this model: move it away, or write the model to "
                         "another folder",
                         to);
    }
    list_missing_folders(to, ret_made);
    rc = file_make_parent_folders(to, err);
    if (rc == 0 && (!may_be_link || link(from, to) < 0))
        rc = copy_data_file(from, to, err);
    if (rc == 0)
        *VECTOR_APPEND(ret_made) = memory_strdup(to);
    return rc;
}

/* Tensors in attributes are copied rather than linked. */
int external_data_provide(const struct subgraph *subgraph, const char *folder, enum external_transfer transfer,
                          struct path_list *ret_made, struct error *err)
{
    struct text_list held_by_nodes SCOPED_ITEMS = {0};
    struct text_list all SCOPED_ITEMS = {0};
    struct locations in_nodes = {.file_name = subgraph->model->display_name, .list = &held_by_nodes};
    int rc;

    name_map_init(&in_nodes.met);
    rc = add_node_locations(&in_nodes, subgraph, err);
    if (rc < 0)
        goto done;
    rc = external_data_locations(subgraph, &all, err);
    for (size_t i = 0; rc == 0 && i < all.count; i++) {
        struct text location = all.items[i];
        bool may_link = transfer == EXTERNAL_LINK && name_map_find(&in_nodes.met, location) == NAME_MAP_NONE;
        char *from, *name SCOPED_FREE = NULL, *to SCOPED_FREE = NULL;

        rc = external_data_path(subgraph->model, location, &from, err);
        if (rc < 0)
            break;
        name = memory_copy(location.data, location.size);
        to = file_join(folder, name);
        rc = provide_data_file(from, to, may_link, ret_made, err);
        free(from);
    }
done:
    name_map_release(&in_nodes.met);
    return rc;
}

void path_list_remove(const struct path_list *list)
{
    for (size_t i = list->count; i-- > 0;)
        remove(list->items[i]);
}

void path_list_release(struct path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct path_list){0};
}
