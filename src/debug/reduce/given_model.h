/* debug/reduce/given_model.h: checks of a model that no search has proposed: the original, the result, one that has
 * passed. */
#ifndef DEBUG_REDUCE_GIVEN_MODEL_H
#define DEBUG_REDUCE_GIVEN_MODEL_H

#include "debug/cut/candidate.h"
#include "debug/loop/loop.h"
#include "debug/cut/external.h"

struct given_models {
    struct candidate_maker *maker; /* borrowed, as is what follows */
    struct loop *loop;
    struct candidate_files *files;

    struct subgraph candidate; /* the one that was described last */
    bool has_candidate;
    const struct given_model *now;
};

struct given_model {
    const struct subgraph *model;
    const struct external_settings *external; /* NULL: everything inside */
    enum expectation expectation;
};

void given_models_init(struct given_models *given, struct candidate_maker *maker, struct loop *loop,
                       struct candidate_files *files);
void given_models_release(struct given_models *given);

/* Checks it apart from the numbered iterations, under `key`: see loop_check_apart(), or loop_check_control(). */
int given_model_check(struct given_models *given, const struct given_model *model, const char *key, const char *what,
                      enum verdict *ret, struct error *err);
int given_model_check_control(struct given_models *given, const struct given_model *model, const char *key,
                              const char *what, enum verdict *ret, struct error *err);

/* A check of this session has to have said so of the model, in the form that it is written in, byte for byte, but for
 * what the file of its external data will be called: see loop_confirm(). */
int given_model_confirm(struct given_models *given, const struct given_model *model, const char *what,
                        enum verdict expected, struct error *err);

/* The same of the model in any form: what is known of it must not be from a debug replay or a verdict cache. */
int given_model_confirm_known(struct given_models *given, const struct given_model *model, const char *what,
                              enum verdict expected, struct error *err);

#endif
