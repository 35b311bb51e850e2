/* tests/programs/trtexec_stand_in/performance.c: how long inferences took, in the log and in files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/run/executor.h"
#include "programs/trtexec_stand_in/stand_in.h"

/* Milliseconds of the stages of one inference. There is no device: copies are made up as shares of the computation. */
struct stages {
    double begin, enqueue, h2d, compute, d2h;
};

static struct stages stages_of(const struct query *query)
{
    double compute = query->seconds * 1e3;

    return (struct stages){query->start * 1e3, compute * 0.95, compute * 0.05, compute, compute * 0.05};
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The value below which `percent` of them are; `values` is sorted. */
static double percentile(const double *values, size_t count, size_t percent)
{
    size_t above = (size_t)((double)(100 - percent) / 100 * (double)count);

    return values[count - 1 - (above < count ? above : count - 1)];
}

enum stage { LATENCY, ENQUEUE, H2D, COMPUTE, D2H };

static double take(const struct stages *stages, enum stage stage)
{
    switch (stage) {
    case ENQUEUE:
        return stages->enqueue;
    case H2D:
        return stages->h2d;
    case COMPUTE:
        return stages->compute;
    case D2H:
        return stages->d2h;
    default:
        return stages->h2d + stages->compute + stages->d2h;
    }
}

/* Their mean; `ret_variation` is the standard deviation over the mean, in percent. */
static double summarize(const struct inference *inference, const char *title, enum stage stage, double *ret_variation)
{
    size_t count = inference->queries.count;
    double *values = memory_alloc_zero(count, sizeof(*values)), sum = 0, squares = 0, mean;

    for (size_t i = 0; i < count; i++) {
        struct stages stages = stages_of(&inference->queries.items[i]);

        values[i] = take(&stages, stage);
        sum += values[i];
    }
    mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    *ret_variation = sqrt(squares / (double)count) / mean * 100;
    qsort(values, count, sizeof(*values), compare_doubles);
    say('I',
        "%s: min = %g ms, max = %g ms, mean = %g ms, median = %g ms, percentile(90%%) = %g ms, percentile(95%%) = %g "
        "ms, percentile(99%%) = %g ms",
        title, values[0], values[count - 1], mean,
        count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2,
        percentile(values, count, 90), percentile(values, count, 95), percentile(values, count, 99));
    free(values);
    return sum;
}

static void trace(const struct inference *inference)
{
    say('I', "=== Trace details ===");
    say('I', "Trace averages of 10 runs:");
    for (size_t i = 0; i + 10 <= inference->queries.count; i += 10) {
        double compute = 0;

        for (size_t k = i; k < i + 10; k++)
            compute += inference->queries.items[k].seconds * 1e2;
        say('I', "Average on 10 runs - GPU latency: %g ms - Host latency: %g ms (enqueue %g ms)", compute,
            compute * 1.1, compute * 0.95);
    }
    say('I', "%s", "");
}

static void explain(void)
{
    static const char *const lines[] = {
        "",
        "=== Explanations of the performance metrics ===",
        "Total Host Walltime: the host walltime from when the first query (after warmups) is enqueued to when the last "
        "query is completed.",
        "GPU Compute Time: the GPU latency to execute the kernels for a query.",
        "Total GPU Compute Time: the summation of the GPU Compute Time of all the queries. If this is significantly "
        "shorter than Total Host Walltime, the GPU may be under-utilized because of host-side overheads or data "
        "transfers.",
        "Throughput: the observed throughput computed by dividing the number of queries by the Total Host Walltime. If "
        "this is significantly lower than the reciprocal of GPU Compute Time, the GPU may be under-utilized because of "
        "host-side overheads or data transfers.",
        "Enqueue Time: the host latency to enqueue a query. If this is longer than GPU Compute Time, the GPU may be "
        "under-utilized.",
        "H2D Latency: the latency for host-to-device data transfers for input tensors of a single query.",
        "D2H Latency: the latency for device-to-host data transfers for output tensors of a single query.",
        "Latency: the summation of H2D Latency, GPU Compute Time, and D2H Latency. This is the latency to infer a "
        "single query.",
    };

    say('I', "Explanations of the performance metrics are printed in the verbose logs.");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        say('V', "%s", lines[i]);
    say('I', "%s", "");
}

static void debug_pairs(void)
{
    if (stand_in.version != V111)
        return;
    say('V', "iEnv.refOutputsAll.empty():1");
    say('V', "static_cast<size_t>(pairIndex) >= iEnv.refOutputsAll.size():1");
    say('V', "pairIndex:0, refOutputsAll.size():0");
}

void report_performance(const struct inference *inference, size_t warm_ups, double wall)
{
    double compute, variation, ignored;

    debug_pairs();
    say('I', "Warmup completed %zu queries over %ld ms", warm_ups, option_number("warmUp", 200));
    say('I', "Timing trace has %zu queries over %g s", inference->queries.count, wall);
    say('I', "%s", "");
    trace(inference);
    say('I', "=== Performance summary ===");
    say('I', "Throughput: %g qps", (double)inference->queries.count / wall);
    summarize(inference, "Latency", LATENCY, &ignored);
    summarize(inference, "Enqueue Time", ENQUEUE, &ignored);
    summarize(inference, "H2D Latency", H2D, &ignored);
    compute = summarize(inference, "GPU Compute Time", COMPUTE, &variation);
    summarize(inference, "D2H Latency", D2H, &ignored);
    say('I', "Total Host Walltime: %g s", wall);
    say('I', "Total GPU Compute Time: %g s", compute / 1e3);
    if ((stand_in.version & SINCE_11) != 0 && given("noCudaGraph")) {
        say('W', "* Throughput may be bound by Enqueue Time rather than GPU Compute and the GPU may be "
                 "under-utilized.");
        say('W', "  If you are using --noCudaGraph, removing it may increase throughput.");
    }
    if (variation > 1) {
        say('W', "* GPU compute time is unstable, with coefficient of variance = %g%%.", variation);
        say('W', "  If not already in use, locking GPU clock frequency may improve the stability.");
    }
    explain();
}

void export_times(const struct inference *inference, const char *path)
{
    struct string_builder text;
    struct error err = {0};

    string_init(&text);
    string_add(&text, "[\n");
    for (size_t i = 0; i < inference->queries.count; i++) {
        struct stages s = stages_of(&inference->queries.items[i]);
        double compute = s.begin + s.h2d, d2h = compute + s.compute;

        string_add_format(&text,
                          "%s{ \"startEnqMs\" : %g, \"endEnqMs\" : %g, \"startH2dMs\" : %g, \"endH2dMs\" : %g, "
                          "\"startComputeMs\" : %g, \"endComputeMs\" : %g, \"startD2hMs\" : %g, \"endD2hMs\" : %g, "
                          "\"h2dMs\" : %g, \"computeMs\" : %g, \"d2hMs\" : %g, \"latencyMs\" : %g }\n",
                          i > 0 ? ", " : "  ", s.begin, s.begin + s.enqueue, s.begin, compute, compute, d2h, d2h,
                          d2h + s.d2h, s.h2d, s.compute, s.d2h, take(&s, LATENCY));
    }
    string_add(&text, "]\n");
    if (file_write(path, text.data, text.size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&text);
}

/* ---- Layers ---- */

static void print_profile(const struct network *network, const double *seconds, size_t runs, double total)
{
    double count = (double)runs;

    say('I', "=== Profile (%zu iterations ) ===", runs);
    say('I', "   Time(ms)     Avg.(ms)   Median(ms)   Time(%%)   Layer");
    for (size_t i = 0; i < network->layers.count; i++)
        say('I', "%11.2f%13.4f%13.4f%10.1f   %s", seconds[i] * 1e3, seconds[i] * 1e3 / count, seconds[i] * 1e3 / count,
            seconds[i] / total * 100, network->layers.items[i].name);
    say('I', "%11.2f%13.4f%13.4f%10.1f   Total", total * 1e3, total * 1e3 / count, total * 1e3 / count, 100.0);
    say('I', "%s", "");
}

/* Names as they are, with their quotes. */
static void export_profile(const struct network *network, const double *seconds, size_t runs, double total)
{
    struct string_builder text;
    struct error err = {0};
    double count = (double)runs;

    string_init(&text);
    string_add_format(&text, "[\n  { \"count\" : %zu }\n", runs);
    for (size_t i = 0; i < network->layers.count; i++)
        string_add_format(&text,
                          ", { \"name\" : \"%s\", \"timeMs\" : %g, \"averageMs\" : %g, \"medianMs\" : %g, "
                          "\"percentage\" : %g }\n",
                          network->layers.items[i].name, seconds[i] * 1e3, seconds[i] * 1e3 / count,
                          seconds[i] * 1e3 / count, seconds[i] / total * 100);
    string_add(&text, "]\n");
    if (file_write(option("exportProfile"), text.data, text.size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&text);
}

void report_profile(const struct inference *inference)
{
    const struct network *network = inference->loaded->engine->network;
    size_t runs;
    const double *seconds = executor_layer_seconds(inference->executor, &runs);
    double total = 0;

    for (size_t i = 0; i < network->layers.count; i++)
        total += seconds[i];
    if (inference->queries.count == runs)
        debug_pairs();
    say('I', "%s", "");
    if (given("dumpProfile"))
        print_profile(network, seconds, runs, total);
    if (given("exportProfile"))
        export_profile(network, seconds, runs, total);
}
