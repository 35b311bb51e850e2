/* backend/tensorrt/tactics.c: see tactics.h. */
#include "backend/tensorrt/tactics.h"

#include "base/memory.h"

/* nvinfer1::DataType as Python spells it, the same in all releases. */
static const char *const type_names[] = {"FLOAT", "HALF", "INT8",  "INT32", "BOOL", "UINT8",
                                         "FP8",   "BF16", "INT64", "INT4",  "FP4"};

static void add_layout(void *info, struct tactic_tensors *ret)
{
    union tensorrt_dims dims = TENSORRT_GET(VAlgorithmIOInfo, getStrides, info);
    int32_t type = TENSORRT_GET(VAlgorithmIOInfo, getDataType, info);
    struct tactic_tensor *tensor;
    SCOPED_STRING(name);
    struct shape strides;

    tensorrt_dims_get(&dims, &strides);
    string_add(&name, "DataType.");
    if (type >= 0 && (size_t)type < ARRAY_LEN(type_names))
        string_add(&name, type_names[type]);
    else
        string_add_integer(&name, type);
    tensor = tactic_tensors_add(ret, (struct text){name.data, name.size}, strides.dims, strides.rank);
    tensor->vectorized_dim = (struct tactic_number){true, TENSORRT_GET(VAlgorithmIOInfo, getVectorizedDim, info)};
    tensor->components_per_element =
        (struct tactic_number){true, TENSORRT_GET(VAlgorithmIOInfo, getComponentsPerElement, info)};
}

/* What a replay says of an algorithm; `ret` is empty. */
static void describe_algorithm(void *context, void *algorithm, struct tactic_algorithm *ret)
{
    void *variant = TENSORRT_GET(VAlgorithm, getAlgorithmVariant, algorithm);
    int32_t inputs = TENSORRT_GET(VAlgorithmContext, getNbInputs, context);
    int32_t outputs = TENSORRT_GET(VAlgorithmContext, getNbOutputs, context);

    ret->implementation = TENSORRT_GET(VAlgorithmVariant, getImplementation, variant);
    ret->tactic = TENSORRT_GET(VAlgorithmVariant, getTactic, variant);
    for (int32_t i = 0; i < inputs + outputs; i++) {
        void *info = tensorrt_object(TENSORRT_CALL(VAlgorithm, getAlgorithmIOInfoByIndex, algorithm, i));

        if (info != NULL)
            add_layout(info, i < inputs ? &ret->inputs : &ret->outputs);
    }
}

static bool is_wanted(void *context, void *algorithm, const char *layer, const struct tactic_algorithm *wanted)
{
    struct tactic_replay one SCOPED(tactic_replay_release) = {0};

    describe_algorithm(context, algorithm, tactic_replay_set(&one, layer));
    return tactic_algorithm_equal(&one.items[0].algorithm, wanted);
}

/* The number of choices that TensorRT may take, whose indices are written to `selection`. */
static int32_t select_algorithms(void *self, void *context, void *const *choices, int32_t count, int32_t *selection)
{
    struct tensorrt_tactics *tactics = self;
    const char *layer = TENSORRT_GET(VAlgorithmContext, getName, context);
    const struct tactic_algorithm *wanted = tactics->wanted != NULL ? tactic_replay_find(tactics->wanted, layer) : NULL;

    for (int32_t i = 0; i < count && wanted != NULL; i++)
        if (is_wanted(context, choices[i], layer, wanted)) {
            selection[0] = i;
            return 1;
        }
    if (tactics->wanted != NULL && (wanted != NULL || !tactics->frees_others) && tactics->failure.code == 0) {
        SCOPED_STRING(text);

        if (wanted != NULL)
            tactic_algorithm_text(wanted, &text);
        error_set(&tactics->failure, ERR_BACKEND, "the tactic replay cannot be forced: layer '%s' %s%s", layer,
                  wanted != NULL ? "is not offered " : "is not in the replay", wanted != NULL ? text.data : "");
    }
    for (int32_t i = 0; i < count; i++)
        selection[i] = i;
    return count;
}

static void report_algorithms(void *self, void *const *contexts, void *const *choices, int32_t count)
{
    struct tensorrt_tactics *tactics = self;

    for (int32_t i = 0; i < count; i++) {
        const char *layer = TENSORRT_GET(VAlgorithmContext, getName, contexts[i]);

        describe_algorithm(contexts[i], choices[i], tactic_replay_set(tactics->chosen, layer));
    }
}

void tensorrt_tactics_init(struct tensorrt_tactics *tactics, const struct tactic_replay *wanted,
                           struct tactic_replay *chosen)
{
    static tensorrt_function *const plain[] = {TENSORRT_FUNCTION(select_algorithms),
                                               TENSORRT_FUNCTION(report_algorithms), TENSORRT_DESTRUCTORS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, TENSORRT_FUNCTION(select_algorithms),
                                                   TENSORRT_FUNCTION(report_algorithms)};

    *tactics = (struct tensorrt_tactics){
        .interface = {.vtable = tensorrt_is_before(10) ? plain : versioned, .kind = "IAlgorithmSelector"},
        .wanted = wanted,
        .chosen = chosen};
}
