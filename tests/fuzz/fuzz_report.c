/* tests/fuzz/fuzz_report.c: pages of reports whose texts and numbers are anything: no tag but the template's own. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/page.h"
#include "report/report.h"
#include "target.h"

static struct report_tensor tensor_of(const char *text, double number)
{
    struct report_tensor tensor = REPORT_TENSOR_UNKNOWN;

    tensor.name = tensor.shape = tensor.first_bad.index = text;
    tensor.absolute_error = tensor.first_bad.suspect = number;
    tensor.outcome = REPORT_DIFFERS;
    tensor.suspect = (struct report_range){.known = true, .minimum = number, .maximum = number, .mean = number};
    return tensor;
}

static void fill(struct report *report, const char *text, double number)
{
    struct words words = {&text, 1};
    struct report_tensor tensor = tensor_of(text, number);
    uint64_t bins[] = {1, 2};

    report_set_verdict(report, REPORT_CAUSE, "%s", text);
    report_add_proof(report, "%s", text);
    report_add_command(report, text, text);
    report_add_environment(report, text, text);
    report_add_step(report, &(struct report_step){text, text, text, text, number});
    report_add_culprit(report, text);
    report_add_layer(report, &(struct report_layer){text, text, text, text, number, words});
    report_add_tensor(report, &tensor);
    report_begin_table(report, text, &text, 1);
    report_add_row(report, (struct report_cell[]){{.text = text}});
    report_add_row(report, (struct report_cell[]){{.number = number}});
    report_add_histogram(report, &(struct report_histogram){text, number, number, ARRAY_LEN(bins), bins, NULL});
    report_add_picture(report, text, text_of(text));
    report_set_search(report, text);
    report_add_candidate(report, &(struct report_candidate){1, number, text, text, text_of(text), number});
    report_add_evidence(report, &(struct report_evidence){.layer = text, .tactic = text, .probability = number});
}

/* Of a page whose texts are all `text`. */
static size_t count_tags(const char *text, struct text document)
{
    struct page_entry entry = {text, text};
    struct page_entries entries = {&entry, 1, 1};
    struct string_builder page;
    size_t count = 0;

    string_init(&page);
    page_make(&(struct page){text, text, text, text, {&text, 1}, entries, entries, document}, &page);
    for (size_t i = 0; i < page.size; i++)
        count += page.data[i] == '<';
    string_release(&page);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report_files nowhere = {"/dev/null", "/dev/null"};
    char *text = memory_copy(data, size);
    struct report *report = report_new(text);
    struct error error;
    double number = 0;

    memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
    fill(report, text, number);
    assert(report_write(report, &nowhere, NULL, &error) == 0);
    report_free(report);
    assert(count_tags(text, (struct text){text, size}) == count_tags("", TEXT("")));
    free(text);
    return 0;
}
