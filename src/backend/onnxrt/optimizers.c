/* backend/onnxrt/optimizers.c: see optimizers.h. */
#include "backend/onnxrt/optimizers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"

/* Of release 1.30 on the processor, in the order in which they are applied. */
static const char *const known[] = {"EnsureUniqueDQForNodeUnit",
                                    "Level1_RuleBasedTransformer",
                                    "DoubleQDQPairsRemover",
                                    "ConstantSharing",
                                    "CommonSubexpressionElimination",
                                    "ConstantFolding",
                                    "MatMulAddFusion",
                                    "ReshapeFusion",
                                    "FreeDimensionOverrideTransformer",
                                    "SliceConcatToSpaceToDepthFusion",
                                    "GeluFusionL1",
                                    "LayerNormFusionL1",
                                    "QDQPropagationTransformer",
                                    "WeightBiasQuantization",
                                    "WhereDummyDq",
                                    "FuseFp16InitializerToFp32NodeTransformer",
                                    "TransposeOptimizer",
                                    "Level2_RuleBasedTransformer",
                                    "TransposeOptimizer_CPUExecutionProvider",
                                    "QDQS8ToU8Transformer",
                                    "QDQSelectorActionTransformer",
                                    "GemmActivationFusion",
                                    "MatMulIntegerToFloatFusion",
                                    "DynamicQuantizeMatMulFusion",
                                    "ConvActivationFusion",
                                    "ConvAddActivationFusion",
                                    "GeluFusionL2",
                                    "LayerNormFusionL2",
                                    "SimplifiedLayerNormFusion",
                                    "AttentionFusion",
                                    "EmbedLayerNormFusion",
                                    "GatherSliceToSplitFusion",
                                    "GatherToSliceFusion",
                                    "MatmulTransposeFusion",
                                    "BiasGeluFusion",
                                    "GroupQueryAttentionFusion",
                                    "GroupQueryAttentionPreNormFusion",
                                    "SkipLayerNormFusion",
                                    "BiasSkipLayerNormFusion",
                                    "FastGeluFusion",
                                    "QuickGeluFusion",
                                    "BiasSoftmaxFusion",
                                    "BiasDropoutFusion",
                                    "MatMulScaleFusion",
                                    "MatMulActivationFusion",
                                    "MatMulNBitsFusion",
                                    "QDQFinalCleanupTransformer",
                                    "NchwcTransformer",
                                    "NhwcTransformer",
                                    "GeluApproximation",
                                    "RemoveDuplicateCastTransformer",
                                    "CastFloat16Transformer",
                                    "MemcpyTransformer"};

static const struct {
    const char *name, *rules[24];
} rule_based[] = {
    {"Level1_RuleBasedTransformer",
     {"EliminateIdentity",
      "EliminateSlice",
      "UnsqueezeElimination",
      "EliminateDropout",
      "ExpandElimination",
      "CastElimination",
      "CastChainElimination",
      "PreShapeNodeElimination",
      "NoopElimination",
      "DivMulFusion",
      "FuseReluClip",
      "GemmSumFusion",
      "GemmTransposeFusion",
      "NotWhereFusion",
      "ConvAddFusion",
      "ConvMulFusion",
      "ConvBNFusion",
      "Pad_Fusion",
      "MatMul_BatchNormalization_Fusion",
      "LabelEncoderFusion"}},
    {"Level2_RuleBasedTransformer", {"ClipQuantRewrite", "ReluQuantRewrite", "GemmTransposeFusion"}},
};

void onnxrt_optimizers_init(struct onnxrt_optimizers *optimizers)
{
    *optimizers = (struct onnxrt_optimizers){0};
    arena_init(&optimizers->arena);
}

void onnxrt_optimizers_release(struct onnxrt_optimizers *optimizers)
{
    free(optimizers->items);
    arena_release(&optimizers->arena);
}

static struct onnxrt_optimizer *find_optimizer(struct onnxrt_optimizers *optimizers, struct text name)
{
    struct onnxrt_optimizer *ret;

    for (size_t i = 0; i < optimizers->count; i++)
        if (text_equal_string(name, optimizers->items[i].name))
            return &optimizers->items[i];
    ret = VECTOR_APPEND(optimizers);
    *ret = (struct onnxrt_optimizer){arena_text(&optimizers->arena, name), false};
    return ret;
}

void onnxrt_optimizers_add(struct onnxrt_optimizers *optimizers, struct text name, bool has_changed)
{
    struct onnxrt_optimizer *optimizer = find_optimizer(optimizers, name);

    optimizer->has_changed = optimizer->has_changed || has_changed;
}

void onnxrt_optimizers_suspect_all(struct onnxrt_optimizers *optimizers)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        onnxrt_optimizers_add(optimizers, text_of(known[i]), true);
}

void onnxrt_optimizers_read(struct onnxrt_optimizers *optimizers, const char *message)
{
    static const char beginning[] = "GraphTransformer ", middle[] = " modified: ";
    const char *name = message + strlen(beginning), *end;

    if (strncmp(message, beginning, strlen(beginning)) != 0)
        return;
    end = strstr(name, middle);
    if (end == NULL || end == name)
        return;
    onnxrt_optimizers_add(optimizers, (struct text){name, (size_t)(end - name)}, end[strlen(middle)] == '1');
}

const char *const *onnxrt_optimizer_rules(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rule_based); i++)
        if (strcmp(rule_based[i].name, name) == 0)
            return rule_based[i].rules;
    return NULL;
}

bool onnxrt_optimizer_is_known(const char *name, struct string_builder *instead)
{
    struct close_names close;
    bool ret = false;

    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        close_names_offer(&close, text_of(known[i]));
        ret = ret || strcmp(known[i], name) == 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(rule_based); i++)
        for (const char *const *rule = rule_based[i].rules; *rule != NULL; rule++) {
            close_names_offer(&close, text_of(*rule));
            ret = ret || strcmp(*rule, name) == 0;
        }
    if (!ret)
        close_names_add_to(&close, instead);
    return ret;
}
