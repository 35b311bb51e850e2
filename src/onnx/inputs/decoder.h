/* onnx/inputs/decoder.h: what each input of a decoder is when the decoder generates tokens.
 *
 * A decoder runs in steps: a prefill of several tokens, then one token at a time. Caches ("past") are inputs that get
 * the outputs ("present") of the step before. The other inputs advance by their roles, which are derived from the rules
 * for their values and from how their sizes depend on the lengths of the caches and of the sequence.
 */
#ifndef ONNX_INPUTS_DECODER_H
#define ONNX_INPUTS_DECODER_H

#include "onnx/inputs/cache_pairs.h"

enum decoder_role {
    DECODER_UNKNOWN,
    DECODER_CACHE,        /* the present of the step before */
    DECODER_TOKENS,       /* the new token */
    DECODER_MASK,         /* a one is appended */
    DECODER_POSITIONS,    /* the last position plus one */
    DECODER_PAST_LENGTH,  /* grows by the number of tokens of the step before */
    DECODER_TOTAL_LENGTH, /* grows by one */
    DECODER_CONSTANT,     /* stays as it is */
};

struct decoder_input {
    const char *name;
    enum decoder_role role;
    const char *present;  /* of a cache: the output */
    enum cache_rule rule; /* by which that was found */
    /* Of a cache paired by name: the other input from which the graph computes `present`; NULL: it does not. */
    const char *other_source;
    /* Of a cache: the axis of its entries, SIZE_MAX if its size is fixed. Of a mask: the axis that grows. */
    size_t axis;
    bool by_name;  /* the role depends on the name */
    bool has_rule; /* for its values, see derived_inputs.h: generated data fit them */
};

struct decoder {
    struct arena arena;
    struct decoder_input *inputs; /* of the model's inputs, in their order */
    size_t count;
    const char *logits; /* the output of which tokens are chosen */
    bool logits_by_name;
};

/* What the user says; both may be empty. */
struct decoder_words {
    struct words caches; /* "PAST:PRESENT" */
    struct words roles;  /* "INPUT:ROLE", and "OUTPUT:logits" */
};

/* Finds the roles of all inputs, and the logits. `ret` is to be released in any case. ERR_INVALID if the words name
 * nothing of the model; ERR_UNSUPPORTED if no cache is found, or if a role or the logits are unknown, with the option
 * that specifies it. */
int decoder_find(const struct model *model, const struct decoder_words *words, struct decoder *ret, struct error *err);
void decoder_release(struct decoder *decoder);

/* The first input of a role; NULL: none has it. */
const struct decoder_input *decoder_find_role(const struct decoder *decoder, enum decoder_role role);

/* "mask", as typed; "cache" and "unknown", too. */
const char *decoder_role_name(enum decoder_role role);

#endif
