/* engine/network/compile.h: compiles a model, or the description in a plan file, to a network of layers. */
#ifndef ENGINE_NETWORK_COMPILE_H
#define ENGINE_NETWORK_COMPILE_H

#include "backend/constant_folding.h"
#include "engine/network/branch_decision.h"
#include "engine/network/network.h"
#include "onnx/model/mark_outputs.h"

struct network_settings {
    /* Backend, request, `log` and size_limit (0: none) for constant folding and type inference; other members are
     * ignored. Without a backend nothing is computed, and only the model's types are used. */
    struct folding_settings folding;
    struct output_names outputs; /* --trt-outputs; no names: the model's own */
    struct words excluded;       /* --trt-exclude-outputs */
    struct words barriers;       /* tensors marked as outputs, so that nothing is folded or fused across them */
    /* Not NULL: If nodes whose condition depends on sizes and non-floating inputs are fixed to the branch of this
     * sample (engine/network/branch_decision.h). Inputs that need another branch are a run-time error. Requires a
     * backend. */
    const struct sample_source *branch_sample;
    bool keep_nodes_apart; /* no fusion, and only constants are folded */
    /* Disabled decisions (engine/network/decisions.h): "fusion:relu@relu1". With keep_nodes_apart only those about
     * constants have an effect. */
    struct words disabled;
    /* warnings: a marked output that prevents a fusion (one line with their number), ...; may be NULL */
    struct log *log;
};

/* Compiles a model, and takes ownership of it, also after an error. Types are inferred if possible. ERR_MISSING names
 * an output that does not exist. Connected nodes that exchange sequences, maps or optionals become one layer. Outputs
 * that are not tensors are left out with a warning; ERR_BACKEND if they were requested by name or are the only ones,
 * and for such inputs. ERR_INVALID for a word of `disabled` without an effect. */
int network_build(struct model *model, const struct network_settings *settings, struct network **ret,
                  struct error *err);

/* The nodes of a layer in a plan file. */
struct node_group {
    struct text name;
    const uint32_t *nodes; /* ascending, as in struct layer */
    size_t count;
};

/* Restores a network from a plan file: `groups` are its layers. ERR_CORRUPT unless every node occurs once, groups are
 * sorted for execution, and network_build() could have produced each of them. Takes ownership of the model on success
 * only. */
int network_restore(struct model *model, const struct node_group *groups, size_t count, struct network **ret,
                    struct error *err);

#endif
