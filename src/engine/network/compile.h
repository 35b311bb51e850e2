/* engine/network/compile.h: makes a network of layers out of a model, or out of what a plan file says of one. */
#ifndef ENGINE_NETWORK_COMPILE_H
#define ENGINE_NETWORK_COMPILE_H

#include "backend/constant_folding.h"
#include "engine/network/branch_decision.h"
#include "engine/network/network.h"
#include "onnx/model/mark_outputs.h"

struct network_settings {
    /* Backend, request, `log` and size_limit (0: none) for constant folding and type inference; the rest is decided
     * here. Without a backend nothing is computed, and types are what the model says. */
    struct folding_settings folding;
    struct output_names outputs; /* --trt-outputs; no names: the model's own */
    struct words excluded;       /* --trt-exclude-outputs */
    struct words barriers;       /* tensors that are outputs as well, so that nothing is folded or fused across them */
    /* Not NULL: If nodes that depend on sizes and on inputs that are no floating-point numbers take the branch of this
     * sample for good (engine/network/branch_decision.h). Other inputs are an error then when the engine runs. Needs a
     * backend. */
    const struct sample_source *branch_sample;
    bool keep_nodes_apart; /* no fusion, nothing folded but constants */
    /* What is not to be decided (engine/network/decisions.h): "fusion:relu@relu1". With nodes that are kept apart words
     * about anything but constants have nothing to say. */
    struct words disabled;
    /* warnings: a marked output that prevents a fusion (one line with their number), ...; may be NULL */
    struct log *log;
};

/* Takes the model over, also after an error. Its types are inferred as far as they can be. ERR_MISSING for an output
 * that is not there (which it names). Sequences, maps and optionals inside the model: the connected nodes that
 * exchange them become one layer. Outputs that are none are left out, with a warning; ERR_BACKEND when they were asked
 * for by name, when there are no others, and for inputs. ERR_INVALID for a word of `disabled` that switches off
 * nothing. */
int network_build(struct model *model, const struct network_settings *settings, struct network **ret,
                  struct error *err);

/* The nodes of a layer in a plan file. */
struct node_group {
    struct text name;
    const uint32_t *nodes; /* ascending, as in struct layer */
    size_t count;
};

/* For a model out of a plan file: `groups` are its layers. ERR_CORRUPT unless every node occurs once, groups are in an
 * order in which they can run and each is something that network_build() could have made. Takes the model over on
 * success only. */
int network_restore(struct model *model, const struct node_group *groups, size_t count, struct network **ret,
                    struct error *err);

#endif
