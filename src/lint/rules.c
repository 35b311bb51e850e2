/* lint/rules.c: see rules.h. */
#include "lint/rules.h"

const struct lint_rule lint_rules[LINT_RULE_COUNT] = {
    [LINT_RULE_UNREADABLE] = {"model-unreadable", LINT_EXCEPTION, LINT_LOADER, "The file is not an ONNX model.",
                              "It is damaged, has another format, or is only a git-lfs pointer."},
    [LINT_RULE_NO_NODES] = {"no-nodes", LINT_WARNING, LINT_LOADER, "The model has no nodes.", "It computes nothing."},
    [LINT_RULE_IR_VERSION] =
        {"missing-ir-version", LINT_EXCEPTION, LINT_CHECKER, "The model has no ir_version.",
         "Readers cannot determine the version of the format. Export the model again, or set ir_version."},
    [LINT_RULE_OPSETS] = {"missing-opset-imports", LINT_EXCEPTION, LINT_CHECKER, "The model imports no operator sets.",
                          "Without them operators are undefined. Set opset_import in the exporter."},
    [LINT_RULE_GRAPH_NAME] = {"missing-graph-name", LINT_EXCEPTION, LINT_CHECKER, "The graph has no name.",
                              "ONNX requires one; some readers refuse a model without it."},
    [LINT_RULE_ELEMENT_TYPE] = {"missing-element-type", LINT_EXCEPTION, LINT_CHECKER,
                                "An input or output of the graph has no element type.",
                                "Set it, for example to float32: inputs cannot be created without it."},
    [LINT_RULE_REPEATED_INPUT] = {"repeated-input", LINT_EXCEPTION, LINT_CHECKER,
                                  "Several inputs of the graph have the same name.", "Rename all but one of them."},
    [LINT_RULE_OUTPUT_SOURCE] = {"output-without-source", LINT_EXCEPTION, LINT_CHECKER,
                                 "An output of the graph has no source.",
                                 "Its name may be misspelled, or its producer was removed."},
    [LINT_RULE_INPUT_SOURCE] = {"input-without-source", LINT_EXCEPTION, LINT_CHECKER,
                                "A node reads a tensor without a source.",
                                "Its name may be misspelled, or its producer was removed."},
    [LINT_RULE_UNSORTED] = {"unsorted-nodes", LINT_EXCEPTION, LINT_CHECKER,
                            "A node comes before the producer of one of its inputs.",
                            "ONNX requires topological order: polygraphy surgeon sanitize --toposort sorts the nodes."},
    [LINT_RULE_CYCLE] = {"cycle", LINT_EXCEPTION, LINT_CHECKER, "Nodes cannot be sorted.",
                         "They depend on each other in a cycle."},
    [LINT_RULE_MADE_TWICE] =
        {"tensor-made-twice", LINT_EXCEPTION, LINT_CHECKER, "A tensor has several sources.",
         "Each tensor must have one source: a node, an initializer or an input of the graph. Rename the others."},
    [LINT_RULE_NO_OPERATOR] = {"missing-operator", LINT_EXCEPTION, LINT_CHECKER, "A node has no operator.",
                               "Its op_type is empty: the model is damaged or incomplete."},
    [LINT_RULE_DUPLICATE_NAME] = {"duplicate-node-name", LINT_EXCEPTION, LINT_GRAPH,
                                  "Several nodes have the same name.",
                                  "Options and reports refer to nodes by name and are ambiguous. Rename the others."},
    [LINT_RULE_UNUSED_INPUT] = {"unused-input", LINT_WARNING, LINT_GRAPH, "No output depends on an input of the graph.",
                                "It is required but unused: polygraphy surgeon sanitize --cleanup removes it."},
    [LINT_RULE_UNUSED_NODE] =
        {"unused-node", LINT_WARNING, LINT_GRAPH, "No output depends on a node.",
         "It is computed needlessly unless the runtime removes it: polygraphy surgeon sanitize --cleanup does."},
    [LINT_RULE_RUNTIME_WARNING] = {"runtime-warning", LINT_WARNING, LINT_RUNTIME, "ONNX Runtime warns about the model.",
                                   "It loads and runs; the message describes a possible problem."},
    [LINT_RULE_NOT_RUN] = {"not-run", LINT_WARNING, LINT_RUNTIME, "The model was not run.",
                           "The message gives the reason. Whether the model runs is unknown."},
    [LINT_RULE_GENERATED_DATA] =
        {"generated-data", LINT_WARNING, LINT_RUNTIME, "The model loads, but does not run on generated data.",
         "Nothing proves that the generated sizes and values are valid, so this may not be an error of the model. Give "
         "data with --load-inputs, or sizes and ranges with --input-shapes and --val-range."},
    [LINT_RULE_NODE_FAILS] =
        {"node-fails", LINT_EXCEPTION, LINT_RUNTIME, "ONNX Runtime refuses a node, or fails on it.",
         "The node was run alone, on the outputs of the preceding nodes; the message is the runtime's."},
    [LINT_RULE_UNKNOWN_OPERATOR] =
        {"unknown-operator", LINT_WARNING, LINT_RUNTIME, "ONNX Runtime does not know an operator.",
         "It may exist in the deployment runtime: --onnxrt-custom-ops loads a library with it."},
    [LINT_RULE_MODEL_FAILS] =
        {"model-fails", LINT_EXCEPTION, LINT_RUNTIME, "The model fails as a whole, but no single node does.",
         "An optimization of the runtime may be the cause: test with polygraphy run --onnxrt-optimization-level none."},
    [LINT_RULE_NODES_NOT_RUN] =
        {"nodes-not-run", LINT_EXCEPTION, LINT_RUNTIME,
         "Nodes were not run, because the runtime crashed or hung before.",
         "Nodes after the last one reported were not checked. --onnxrt-timeout and --max-memory raise the limits."},
};
