/* tests/programs/trtexec_stand_in.c: stands in for NVIDIA's trtexec where there is no GPU; trtexec_stand_in/stand_in.h
 * says how. This file goes from the command line to PASSED or FAILED.
 *
 * Traps, which TensorRT falls into by itself, and this program when asked to:
 *   crash-build, crash-run   ends by SIGSEGV
 *   hang-build, hang-run     never ends
 *   parser-fails             the ONNX parser refuses the model
 *   build-fails              the builder refuses it; 10.16 and 11.1 leave an engine file of 0 bytes
 *   routes-refused           knobs of the compiler are refused beside each other: conv_lowering=off, kgen:tiling=0
 *   no-engine                a build that ends with PASSED and leaves no engine
 *   ignored-inputs           random values in place of those of the files
 *   verbose-flood            megabytes of log
 *   ignored-precisions       layer precisions match nothing, silently
 *   non-conforming           a layer is built in another precision than was asked for
 *   timing-cache-miss        the timing cache lacks a time
 *   unpinned                 a build takes other tactics than its timing cache says
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "programs/trtexec_stand_in/stand_in.h"

struct stand_in stand_in;

static const struct {
    const char *name, *library, *banner;
    enum version version;
    uint8_t numbers[4];
} versions[] = {
    {"8.6", "8.6.1", "[TensorRT v8601]", V8, {8, 6, 1, 6}},
    {"10.16", "10.16.0", "[TensorRT v101600] [b72]", V10, {10, 16, 0, 72}},
    {"11.0", "11.0.0", "[TensorRT v110000] [b114]", V110, {11, 0, 0, 114}},
    {"11.1", "11.1.0", "[TensorRT v110100] [b106]", V111, {11, 1, 0, 106}},
};

bool trap(const char *name)
{
    const char *traps = getenv("TRTEXEC_STAND_IN_TRAPS");
    size_t size = strlen(name);

    for (const char *at = traps; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

static void choose_version(int argc, char **argv)
{
    const char *name = getenv("TRTEXEC_STAND_IN_VERSION");
    struct string_builder command;
    size_t row = 0;

    name = name != NULL ? name : "10.16";
    while (row < ARRAY_LEN(versions) && strcmp(versions[row].name, name) != 0)
        row++;
    if (row == ARRAY_LEN(versions)) {
        fprintf(stderr, "TRTEXEC_STAND_IN_VERSION is '%s': there are 8.6, 10.16, 11.0 and 11.1\n", name);
        exit(1);
    }
    stand_in.version = versions[row].version;
    stand_in.library = versions[row].library;
    stand_in.banner = versions[row].banner;
    memcpy(stand_in.numbers, versions[row].numbers, sizeof(stand_in.numbers));
    string_init(&command);
    for (int i = 0; i < argc; i++)
        string_add_format(&command, "%s%s", i > 0 ? " " : "", argv[i]);
    stand_in.command = string_take(&command);
}

/* It lies beside the folder of this program. */
static void find_runtime(void)
{
    char *self = file_real_path("/proc/self/exe"), *folder = file_folder(self);
    char *library = file_join(folder, "../libonnxruntime.so.1");

    if (getenv("POLYGRAPHY_ONNXRUNTIME") == NULL && file_exists(library))
        setenv("POLYGRAPHY_ONNXRUNTIME", library, 1);
    free(library);
    free(folder);
    free(self);
}

static int verdict(int status)
{
    fflush(stderr);
    printf("&&&& %s TensorRT.trtexec %s # %s\n", status == 0 ? "PASSED" : "FAILED", stand_in.banner, stand_in.command);
    return status;
}

static int refuse_options(void)
{
    options_help();
    return stand_in.version == V111 ? 1 : verdict(1);
}

static void fall_into(const char *stage)
{
    char name[32];

    snprintf(name, sizeof(name), "crash-%s", stage);
    if (trap(name)) {
        fflush(stdout);
        raise(SIGSEGV);
    }
    snprintf(name, sizeof(name), "hang-%s", stage);
    while (trap(name))
        pause();
}

/* The bytes 24 to 27 of the file, without deserialising it. */
static int print_plan_version(const char *path)
{
    uint8_t start[28];

    if (file_read_start(path, start, sizeof(start)) < sizeof(start) || memcmp(start, "ftrt", 4) != 0) {
        say('E', "Failed to get plan version: %s", path);
        return verdict(1);
    }
    say('I', "Plan was created with TensorRT version %d.%d.%d.%d", start[24], start[25], start[26], start[27]);
    return verdict(0);
}

static int build_and_infer(void)
{
    struct loaded_engine loaded = {0};
    const char *path = option("loadEngine");
    int status;

    fall_into(path != NULL ? "run" : "build");
    status = path != NULL ? load_engine(path, &loaded) : build_engine(&loaded);
    if (status > 1)
        return 1;
    if (status != 0)
        return verdict(1);
    if (loaded.engine == NULL) {
        say('I', "Skipped inference phase since --skipInference is added.");
        return verdict(0);
    }
    if (given("skipInference") || given("buildOnly")) {
        layers_export(&loaded);
        say('I', "Skipped inference phase since --%s is added.", given("buildOnly") ? "buildOnly" : "skipInference");
        return verdict(0);
    }
    status = infer(&loaded);
    return status > 1 ? 1 : verdict(status);
}

/* "-CUDNN,+JIT_CONVOLUTIONS": 11 has two of them left. */
static bool bad_tactic_source(void)
{
    static const char *const known[] = {"EDGE_MASK_CONVOLUTIONS", "JIT_CONVOLUTIONS", "CUBLAS", "CUBLAS_LT", "CUDNN"};
    size_t count = (stand_in.version & SINCE_11) != 0 ? 2 : ARRAY_LEN(known);
    struct pairs sources = option_pairs("tacticSources");

    for (size_t i = 0; i < sources.count; i++) {
        const char *name = sources.items[i].name;
        bool found = false;

        for (size_t k = 0; k < count && (name[0] == '+' || name[0] == '-'); k++)
            found = found || strcmp(name + 1, known[k]) == 0;
        if (!found) {
            say('E', "Unknown tactic source: %s", name);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    stand_in.start = stopwatch_now();
    choose_version(argc, argv);
    printf("&&&& RUNNING TensorRT.trtexec %s # %s\n", stand_in.banner, stand_in.command);
    if (!options_read(argc, argv))
        return refuse_options();
    if (argc == 1 || given("help")) {
        options_help();
        return 0;
    }
    if (given("getPlanVersionOnly") && option("loadEngine") != NULL)
        return print_plan_version(option("loadEngine"));
    if (given("helpBuildRoute"))
        return print_build_routes(option("helpBuildRoute"));
    if (bad_tactic_source())
        return refuse_options();
    if (option("onnx") == NULL && option("loadEngine") == NULL) {
        say('E', "Model missing or format not recognized");
        return refuse_options();
    }
    find_runtime();
    report_options();
    report_device();
    return build_and_infer();
}
