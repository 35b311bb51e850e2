/* tests/tensorrt_stand_in/network.h: the objects of a build: network, tensors, layers, configuration. */
#ifndef TENSORRT_STAND_IN_NETWORK_H
#define TENSORRT_STAND_IN_NETWORK_H

#include "onnx/model/model.h"
#include "tensorrt_stand_in/stand_in.h"

struct stand_in_network;

struct stand_in_tensor {
    struct object object;
    struct stand_in_network *network;
    uint32_t value;
    char *name;
    enum data_type type;
    bool has_type; /* set by the program */
    struct shape shape;
    uint32_t formats;
    bool is_output, is_debug;
};

struct stand_in_attention {
    struct object object;
    bool decomposable;
};

struct stand_in_boundary {
    struct object object;
    struct stand_in_attention *attention;
};

struct stand_in_layer {
    struct object object;
    struct stand_in_attention *attention; /* NULL: not an Attention node */
    struct stand_in_network *network;
    uint32_t node;
    char *name, *metadata;
    enum data_type precision; /* DATA_UNDEFINED: not set */
    enum data_type output_types[MOST_DIMS];
};

struct tensor_objects {
    struct stand_in_tensor **items;
    size_t count, capacity;
};

struct stand_in_network {
    struct object object;
    struct model *model; /* NULL before anything was parsed */
    char *bytes, *folder;
    size_t size;
    char *name;
    uint32_t flags;
    void *recorder;
    struct tensor_objects inputs, outputs;
    struct stand_in_tensor **tensors; /* of each value of the model, or NULL */
    struct {
        struct stand_in_layer **items;
        size_t count, capacity;
    } layers;
    bool unfused_are_debug;
};

struct object *network_new(uint32_t flags);
bool network_is_strongly_typed(const struct stand_in_network *network);
/* Takes the model over. */
void network_fill(struct stand_in_network *network, struct model *model);
struct stand_in_tensor *network_tensor(struct stand_in_network *network, uint32_t value);

/* The layer's name in engines and plans, malloc'd: that of the node, "node_of_<output>" where it has none. */
char *node_layer_name(const struct model *model, uint32_t node);

/* ---- timing.c: what timing caches remember: which tactic a layer had. ---- */

struct timing_key {
    uint8_t bytes[16];
};
struct timing_value {
    uint64_t tactic;
    float milliseconds;
};
struct timing_entry {
    struct timing_key key;
    int64_t implementation; /* 0: not known, the program has set the tactic */
    struct timing_value value;
};
struct stand_in_timing_cache {
    struct object object;
    struct {
        struct timing_entry *items;
        size_t count, capacity;
    } entries;
};

struct object *timing_cache_object_new(const void *data, size_t size); /* NULL: of another release */
struct timing_key timing_key_of(const char *layer);
struct timing_entry *timing_entry_find(const struct stand_in_timing_cache *cache, const struct timing_key *key);
void timing_entry_set(struct stand_in_timing_cache *cache, const char *layer, int64_t implementation, int64_t tactic);

/* ---- config.c ---- */

enum profile_part { PROFILE_MINIMUM, PROFILE_OPTIMUM, PROFILE_MAXIMUM, PROFILE_PARTS };

struct profile_entry {
    char *name;
    bool given[PROFILE_PARTS];
    struct shape shapes[PROFILE_PARTS];
    bool has_values;
    size_t value_count;
    int64_t values[PROFILE_PARTS][MOST_DIMS];
    int32_t narrow_values[PROFILE_PARTS][MOST_DIMS];
};

struct stand_in_profile {
    struct object object;
    struct {
        struct profile_entry *items;
        size_t count, capacity;
    } entries;
};

/* Numbers that a method sets and another one gives back. */
enum config_number {
    CONFIG_AVERAGE_TIMING,
    CONFIG_CAPABILITY,
    CONFIG_DLA_CORE,
    CONFIG_DEVICE_TYPE,
    CONFIG_VERBOSITY,
    CONFIG_TACTIC_SOURCES,
    CONFIG_OPTIMIZATION_LEVEL,
    CONFIG_HARDWARE_COMPATIBILITY,
    CONFIG_AUXILIARY_STREAMS,
    CONFIG_PLATFORM,
    CONFIG_MOST_TACTICS,
    CONFIG_TILING_LEVEL,
    CONFIG_QUANTIZATION_FLAGS,
    CONFIG_COMPUTE_CAPABILITIES,
    CONFIG_LAST_CAPABILITY,
    CONFIG_NUMBERS,
};

enum { MEMORY_POOLS = 6, PREVIEW_FEATURES = 8 };

struct stand_in_config {
    struct object object;
    int32_t numbers[CONFIG_NUMBERS];
    uint32_t flags;
    size_t pools[MEMORY_POOLS];
    bool preview[PREVIEW_FEATURES];
    char *build_route;
    void *calibrator, *selector, *monitor;
    struct stand_in_profile *calibration_profile; /* NULL: the first profile */
    struct stand_in_timing_cache *timing_cache;
    struct {
        struct stand_in_profile **items;
        size_t count, capacity;
    } profiles;
    struct words plugins;
};

struct object *config_new(void);
struct object *profile_new(void);
bool config_has_flag(const struct stand_in_config *config, const char *name); /* false where the release has none */

/* ---- calibration.c ---- */

struct calibration;
struct calibration_batches {
    struct tensor_list *items;
    size_t count, capacity;
};

/* Reads the program's cache into `calibration`, or else all of its batches. */
void read_calibration(const struct stand_in_config *config, const struct stand_in_network *network,
                      struct calibration *calibration, struct calibration_batches *ret);
void write_calibration(const struct stand_in_config *config, const struct calibration *calibration);

/* ---- record.c ---- */

void record_line(const char *line);
void record_build(const struct stand_in_network *network, const struct stand_in_config *config);

/* ---- plan.c ---- */

/* Builds, and appends the plan's bytes. False: reported. */
bool plan_build(struct stand_in_network *network, struct stand_in_config *config, struct string_builder *ret);

#endif
