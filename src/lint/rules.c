/* lint/rules.c: see rules.h. */
#include "lint/rules.h"

const struct lint_rule lint_rules[LINT_RULE_COUNT] = {
    [LINT_RULE_UNREADABLE] = {"model-unreadable", LINT_EXCEPTION, LINT_LOADER, "The file is no ONNX model.",
                              "It is damaged, is something else, or only a pointer to where it is stored (git-lfs)."},
    [LINT_RULE_NO_NODES] = {"no-nodes", LINT_WARNING, LINT_LOADER, "The model has no nodes.", "It computes nothing."},
    [LINT_RULE_IR_VERSION] = {"missing-ir-version", LINT_EXCEPTION, LINT_CHECKER,
                              "The model does not say its ir_version.",
                              "Readers cannot know by which rules the file was written. Write it anew with the "
                              "exporter, or set ir_version."},
    [LINT_RULE_OPSETS] = {"missing-opset-imports", LINT_EXCEPTION, LINT_CHECKER, "The model imports no operator sets.",
                          "Without them operators have no meaning. Give opset_import to whatever makes the model."},
    [LINT_RULE_GRAPH_NAME] = {"missing-graph-name", LINT_EXCEPTION, LINT_CHECKER, "The graph has no name.",
                              "ONNX demands one; some readers refuse a model without."},
    [LINT_RULE_ELEMENT_TYPE] = {"missing-element-type", LINT_EXCEPTION, LINT_CHECKER,
                                "An input or output of the graph has no element type.",
                                "Give it one, float32 for instance: inputs cannot be made without."},
    [LINT_RULE_REPEATED_INPUT] = {"repeated-input", LINT_EXCEPTION, LINT_CHECKER,
                                  "A name is given to several inputs of the graph.", "Rename all but one of them."},
    [LINT_RULE_OUTPUT_SOURCE] = {"output-without-source", LINT_EXCEPTION, LINT_CHECKER,
                                 "Nothing makes an output of the graph.",
                                 "Its name may be mistyped, or the node that makes it was removed."},
    [LINT_RULE_INPUT_SOURCE] = {"input-without-source", LINT_EXCEPTION, LINT_CHECKER,
                                "A node reads a tensor that nothing makes.",
                                "Its name may be mistyped, or the node that makes it was removed."},
    [LINT_RULE_UNSORTED] = {"unsorted-nodes", LINT_EXCEPTION, LINT_CHECKER,
                            "A node stands before one that makes what it reads.",
                            "ONNX demands topological order: polygraphy surgeon sanitize --toposort sorts them."},
    [LINT_RULE_CYCLE] = {"cycle", LINT_EXCEPTION, LINT_CHECKER, "Nodes cannot be sorted.",
                         "They depend on each other in a circle, so that none of them can be the first."},
    [LINT_RULE_MADE_TWICE] =
        {"tensor-made-twice", LINT_EXCEPTION, LINT_CHECKER, "A tensor has several sources.",
         "Each may be made once, by one node, an initializer or an input of the graph. Rename one of them."},
    [LINT_RULE_NO_OPERATOR] = {"missing-operator", LINT_EXCEPTION, LINT_CHECKER, "A node does not say its operator.",
                               "Its op_type is empty: it was damaged or not filled in."},
    [LINT_RULE_DUPLICATE_NAME] = {"duplicate-node-name", LINT_EXCEPTION, LINT_GRAPH,
                                  "Several nodes have the same name.",
                                  "Options and reports that name a node mean one of them. Rename the others."},
    [LINT_RULE_UNUSED_INPUT] =
        {"unused-input", LINT_WARNING, LINT_GRAPH, "No output depends on an input of the graph.",
         "It has to be fed for nothing: polygraphy surgeon sanitize --cleanup removes what is not used."},
    [LINT_RULE_UNUSED_NODE] =
        {"unused-node", LINT_WARNING, LINT_GRAPH, "No output depends on a node.",
         "It is computed for nothing, unless the runtime removes it: polygraphy surgeon sanitize --cleanup does."},
    [LINT_RULE_RUNTIME_WARNING] = {"runtime-warning", LINT_WARNING, LINT_RUNTIME, "ONNX Runtime warns of the model.",
                                   "It loads and runs; the message says what may be wrong."},
    [LINT_RULE_NOT_RUN] = {"not-run", LINT_WARNING, LINT_RUNTIME, "The model was not run.",
                           "The message says why. Nothing is known of whether it runs."},
    [LINT_RULE_NODE_FAILS] =
        {"node-fails", LINT_EXCEPTION, LINT_RUNTIME, "ONNX Runtime refuses a node, or fails on it.",
         "The node was run alone, on what the nodes in front of it have made; the message is the runtime's."},
    [LINT_RULE_UNKNOWN_OPERATOR] =
        {"unknown-operator", LINT_WARNING, LINT_RUNTIME, "ONNX Runtime does not know an operator.",
         "It may be there where the model will run: --onnxrt-custom-ops loads a library with it."},
    [LINT_RULE_MODEL_FAILS] = {"model-fails", LINT_EXCEPTION, LINT_RUNTIME,
                               "The model fails as a whole, though no node alone does.",
                               "What the runtime changes before it runs the model may be at fault: polygraphy run "
                               "--onnxrt-optimization-level none tells."},
    [LINT_RULE_NODES_NOT_RUN] =
        {"nodes-not-run", LINT_EXCEPTION, LINT_RUNTIME,
         "Nodes were not run, because the runtime crashed or hung before.",
         "What is known ends at the last node that is named. --onnxrt-timeout and --max-memory raise its bounds."},
};
