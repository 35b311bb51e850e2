/* tests/programs/report_sample.c: a report with every section, for the tests in a browser.
 *
 *   report_sample MODEL NAME PAGE DATA
 *
 * The numbers are made up: the second half of the model's nodes differs. NAME stands wherever a name can. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/report.h"

static const char svg[] =
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 20' onload='alert(1)'><script>alert(2)</script>"
    "<rect width='40' height='20' fill='steelblue'/></svg>";

static void add_tensor(struct report *report, const char *name, double place, bool differs)
{
    struct report_tensor tensor = REPORT_TENSOR_UNKNOWN;

    tensor.name = name;
    tensor.type = "float32";
    tensor.precision = "float16";
    tensor.shape = "(1, 64, 56, 56)";
    tensor.outcome = differs ? REPORT_DIFFERS : REPORT_MATCHES;
    tensor.absolute_error = differs ? 40 * place : 1e-4 * place;
    tensor.relative_error = differs ? INFINITY : 1e-3;
    tensor.atol = tensor.rtol = 1e-2;
    tensor.signal_to_noise = differs ? 12 - 20 * place : 70 - 30 * place;
    tensor.mismatches = differs ? 1234 : 0;
    tensor.elements = 200704;
    tensor.reference = (struct report_range){.known = true, .minimum = -3, .maximum = 140000 * place, .mean = 1};
    tensor.suspect = (struct report_range){.known = true,
                                           .minimum = -3,
                                           .maximum = differs ? 65504 : 140000 * place,
                                           .mean = 1,
                                           .infinities = differs * 12};
    if (differs) {
        tensor.first_bad.index = "(0, 3, 17, 2)";
        tensor.first_bad.reference = 72489.25;
        tensor.first_bad.suspect = INFINITY;
    }
    report_add_tensor(report, &tensor);
}

static void add_network(struct report *report, struct model *model, const char *name)
{
    size_t half = model->nodes.count / 2;

    report_add_network(report, model);
    report_add_culprit(report, name);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        uint32_t value = model_edge(model, model->nodes.items[i].outputs, 0);
        struct text text = model->values.items[value].name;
        char *tensor = memory_copy(text.data, text.size);

        add_tensor(report, tensor, (double)i / (double)model->nodes.count, i >= half);
        free(tensor);
    }
    for (uint32_t i = 0; i + 1 < model->nodes.count; i += 2) {
        const char *nodes[] = {model_node_label(model, i), model_node_label(model, i + 1)};

        report_add_layer(report, &(struct report_layer){name,
                                                        "convolution",
                                                        "float16",
                                                        "onednn:jit:avx512_core",
                                                        1e-4 * (i % 7 + 1),
                                                        {nodes, ARRAY_LEN(nodes)}});
    }
}

static void add_search(struct report *report, const char *name)
{
    report_set_search(report, "nodes");
    for (int i = 0; i < 24; i++) {
        bool failed = i % 3 != 1;

        report_add_candidate(report, &(struct report_candidate){
                                         .number = i,
                                         .size = 670.0 / (i / 2 * 2 + 1) * (failed ? 1 : 0.6),
                                         .verdict = failed ? "failed" : "passed",
                                         .note = name,
                                         .log = text_of("[E] outputs differ\n</pre><script>alert(3)</script>\n"),
                                         .seconds = 0.3 + 0.1 * i,
                                     });
    }
}

static void add_all(struct report *report, struct model *model, const char *name)
{
    static const char *const columns[] = {"name", "number"};
    uint64_t reference[] = {4, 100, 30000, 91000, 1200, 40, 3, 0}, suspect[] = {0, 80, 31000, 90000, 1200, 0, 0, 9};

    report_set_verdict(report, REPORT_CAUSE, "%s overflows float16: the Mul after it makes infinities", name);
    report_add_proof(report, "In the reference %s reaches 72489; float16 ends at 65504.", name);
    report_add_proof(report, "With its layer in float32 the whole model passes.");
    report_add_command(report, NULL, "polygraphy debug accuracy model.onnx --onnxrt --trt --fp16");
    report_add_command(report, "The smallest model that fails:", "sh reproduce.sh # </code><script>alert(4)</script>");
    report_add_environment(report, "processor", name);
    report_add_environment(report, "program", "polygraphy");
    report_add_step(report, &(struct report_step){"Is the question sound?", "A NaN of the reference's own is no error.",
                                                  "polygraphy check lint model.onnx", "Yes.", 1.25});
    report_add_step(report, &(struct report_step){.what = "Does it fail?", .outcome = name, .seconds = 200});
    report_add_step(report, &(struct report_step){.what = "Prove it", .seconds = NAN});
    add_network(report, model, name);
    add_search(report, name);
    for (int i = 0; i < 4; i++)
        report_add_evidence(report,
                            &(struct report_evidence){name, "onednn:brg_conv:avx512_core", 5, (size_t)i, 0, 7,
                                                      0.9 / (i + 1), i == 0 ? "proven: fails when forced" : NULL});
    report_add_histogram(report, &(struct report_histogram){name, -8.5, 1e6, ARRAY_LEN(reference), reference, suspect});
    report_add_picture(report, name, text_of(svg));
    report_begin_table(report, name, columns, ARRAY_LEN(columns));
    for (int i = 0; i < 120; i++)
        report_add_row(report, (struct report_cell[]){{.text = name}, {.number = i * 7 % 120}});
    report_add_row(report, (struct report_cell[]){{.text = "none"}, {.number = NAN}});
}

int main(int argc, char **argv)
{
    struct report_files files = {argc == 5 ? argv[3] : NULL, argc == 5 ? argv[4] : NULL};
    struct error error = {0};
    struct report *report;
    struct model *model;

    if (argc != 5) {
        fprintf(stderr, "usage: report_sample MODEL NAME PAGE DATA\n");
        return 2;
    }
    if (model_open(argv[1], NULL, &model, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    report = report_new(argv[2]);
    add_all(report, model, argv[2]);
    if (report_write(report, &files, NULL, &error) < 0)
        fprintf(stderr, "%s\n", error.message);
    report_free(report);
    model_free(model);
    return error.code != 0;
}
