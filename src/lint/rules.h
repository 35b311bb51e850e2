/* lint/rules.h: all rules of `check lint`. Their names are a stable interface: pipelines filter by them. */
#ifndef LINT_RULES_H
#define LINT_RULES_H

#include "format/polygraphy/lint_report.h"

enum lint_rule_number {
    LINT_RULE_UNREADABLE,
    LINT_RULE_NO_NODES,
    LINT_RULE_IR_VERSION,
    LINT_RULE_OPSETS,
    LINT_RULE_GRAPH_NAME,
    LINT_RULE_ELEMENT_TYPE,
    LINT_RULE_REPEATED_INPUT,
    LINT_RULE_OUTPUT_SOURCE,
    LINT_RULE_INPUT_SOURCE,
    LINT_RULE_UNSORTED,
    LINT_RULE_CYCLE,
    LINT_RULE_MADE_TWICE,
    LINT_RULE_NO_OPERATOR,
    LINT_RULE_DUPLICATE_NAME,
    LINT_RULE_UNUSED_INPUT,
    LINT_RULE_UNUSED_NODE,
    LINT_RULE_RUNTIME_WARNING,
    LINT_RULE_NOT_RUN,
    LINT_RULE_GENERATED_DATA,
    LINT_RULE_NODE_FAILS,
    LINT_RULE_UNKNOWN_OPERATOR,
    LINT_RULE_MODEL_FAILS,
    LINT_RULE_NODES_NOT_RUN,
    LINT_RULE_COUNT
};

extern const struct lint_rule lint_rules[LINT_RULE_COUNT];

#endif
