/* debug/accuracy/part.h: parts of the model, each a model of its own that is run with what the reference has there.
 *
 *   rc = parts_open(&parts, investigation, err);
 *   ...
 *   bitset_add(&nodes, 17);
 *   rc = part_run_alone(&parts, &nodes, tolerance, &run, err);
 *   if (rc == 0 && run.agreement == DIFFERS)
 *       ...
 *
 * Values of the reference have to be there (values.h). A part that cannot be cut out or run says nothing: it REFUSES.
 */
#ifndef DEBUG_ACCURACY_PART_H
#define DEBUG_ACCURACY_PART_H

#include "debug/accuracy/investigation.h"
#include "onnx/model/subgraph.h"

struct parts {
    struct investigation *investigation;
    struct model *model;   /* the original, its Constant nodes being initializers */
    struct subgraph whole; /* of `model` */
};

int parts_open(struct parts *ret, struct investigation *investigation, struct error *err);
void parts_close(struct parts *parts);

/* What a tensor is called. */
const char *parts_tensor(struct parts *parts, uint32_t value);

/* What a node is called: its name, or that of its first output where it has none, or shares it with another node. */
const char *parts_node(struct parts *parts, uint32_t node);

/* "'a' (Conv), 'b' (Add) and 3 more". */
const char *parts_describe(struct parts *parts, const struct bitset *nodes);

/* The names of the nodes. */
struct words parts_names(struct parts *parts, const struct bitset *nodes);

/* Writes a part as a model; `path` NULL: into the experiment's folder. `*ret` is NULL where it cannot be cut out. */
int part_extract(struct parts *parts, const struct subgraph *part, const char *path, const char *why, const char **ret,
                 struct error *err);

/* Begins to compare a model, the whole or a part of it, with the reference's values. The runner is to be added. */
void part_begin_comparison(struct call *ret, struct parts *parts, const char *model, struct words tolerance,
                           const char *name, const char *why);

/* call_judge(), where a question that makes no sense is answered by REFUSES. */
int part_judge(struct call *call, struct experiment **ret, enum agreement *ret_agreement, struct error *err);

/* What became of nodes that were run alone. */
struct lone_run {
    enum agreement agreement;
    const char *model;             /* they, cut out; NULL: that was not possible */
    struct experiment *experiment; /* the comparison of the suspect; NULL: none was made */
    const char *outputs;           /* what they made of the reference's values in the suspect */
};

/* Cuts the nodes out, and has the suspect compute them, from what they get in the reference. They DIFFER only if the
 * reference itself agrees with what it had in the whole model. */
int part_run_alone(struct parts *parts, const struct bitset *nodes, struct words tolerance, struct lone_run *ret,
                   struct error *err);

/* Adds neighbours to `nodes` until they fail together, and takes away again what they fail without. `ret` is the last
 * run that failed: that of what is left, none of which can be spared; else, they do not DIFFER. */
int part_grow(struct parts *parts, struct bitset *nodes, struct words tolerance, struct lone_run *ret,
              struct error *err);

/* Makes the part FOLDER/minimal.onnx, with its inputs and golden outputs, the investigation's minimal case. */
int part_make_minimal(struct parts *parts, const struct bitset *nodes, struct words tolerance, struct error *err);

#endif
