/* backend/tensorrt/request.h: settings of engines, and descriptions of the library, as messages. */
#ifndef BACKEND_TENSORRT_REQUEST_H
#define BACKEND_TENSORRT_REQUEST_H

#include "backend/tensorrt/settings.h"
#include "backend/worker/message.h"

enum tensorrt_question {
    TENSORRT_DESCRIBE, /* what the library is */
    TENSORRT_SAMPLES,  /* calibration data of the next build */
    TENSORRT_BUILD,    /* a plan from a model */
    TENSORRT_OPEN,     /* a session from a plan */
    TENSORRT_RUN,
    TENSORRT_CLOSE,
    TENSORRT_LAYERS,  /* layer information of a plan */
    TENSORRT_NETWORK, /* what the parser makes of a model */
    TENSORRT_ROUTES,  /* which knobs TensorRT's compiler has */
    TENSORRT_SUPPORT, /* which nodes of a model the parser supports */
    TENSORRT_QUESTIONS,
};

/* All members of struct tensorrt_settings but the log, the progress and the samples. */
extern const struct message_record tensorrt_settings_record;

/* The library that was found. */
struct tensorrt_description {
    const char *name; /* "TensorRT 10.16.1" */
    int major, minor; /* of a TensorRT-RTX: its own */
    bool is_rtx, builds;
    bool cancels;                       /* builds, by a progress monitor */
    const char *path, *reason, *others; /* as in struct tensorrt_place */
    const char *parser;                 /* path; NULL: there is none */
    const char *no_device;              /* why there is none; NULL: a GPU answers */
};

extern const struct message_record tensorrt_description_record;

/* What comes with the plan of a build. */
struct tensorrt_build_report {
    uint64_t plan_size, layers_size, timing_cache_size, tactics_size, calibration_size; /* bytes, which follow */
    bool lost_timing_cache; /* that which was to be loaded could not be used */
    const char *no_layers;  /* why there is no layer information; NULL: there is */
};

extern const struct message_record tensorrt_build_report_record;

/* A tensor of a network. */
struct tensorrt_network_tensor {
    const char *name;
    enum data_type type; /* DATA_UNDEFINED: not known */
    bool has_shape;
    struct shape shape;
};

struct tensorrt_network_tensors {
    const struct tensorrt_network_tensor *items;
    size_t count;
};

struct tensorrt_network_layer {
    const char *name;
    const char *type;  /* "CONVOLUTION" */
    const char *nodes; /* of which ONNX nodes it was made, as TensorRT says it; NULL: it does not */
    struct tensorrt_network_tensors inputs, outputs;
};

struct tensorrt_network_layers {
    const struct tensorrt_network_layer *items;
    size_t count;
};

/* A network of TensorRT's, as it is before a build. */
struct tensorrt_network_view {
    struct tensorrt_network_tensors inputs, outputs;
    struct tensorrt_network_layers layers;
};

extern const struct message_record tensorrt_network_view_record;

/* Why the parser refuses a node. Of a node of a function `node` may be its index there. */
struct tensorrt_refusal {
    int node;
    const char *name, *op_type, *stack, *reason; /* `stack`: the functions that lead to it, "outer -> inner" */
};

struct tensorrt_refusals {
    const struct tensorrt_refusal *items;
    size_t count;
};

/* A node that the parser takes, together with those of the same group. Nodes of no group it refuses. */
struct tensorrt_taken_node {
    int node, group;
};

struct tensorrt_taken_nodes {
    const struct tensorrt_taken_node *items;
    size_t count;
};

/* What the parser says of the nodes of a model. */
struct tensorrt_support {
    bool takes_all;
    struct tensorrt_taken_nodes taken; /* without `takes_all` groups are believed to be supported, which asking tells */
    struct tensorrt_refusals errors;   /* may not be all */
};

extern const struct message_record tensorrt_support_record;

/* Where a session's plan is. */
struct tensorrt_plan_source {
    const char *path; /* NULL: the plan of the last build */
    bool refits;      /* with the weights of the model that follows */
};

extern const struct message_record tensorrt_plan_source_record;

/* What a run needs besides the values that it is fed with. */
struct tensorrt_run_question {
    uint64_t session;
    bool wants_all; /* outputs; else those in `wanted` */
    struct words wanted;
};

extern const struct message_record tensorrt_run_question_record;

#endif
