/* debug/accuracy/misfit.c: see misfit.h. */
#include "debug/accuracy/misfit.h"

const struct format format_float16 = {"float16", 65504, 0x1p-14, 0x1p-25};
const struct format format_bfloat16 = {"bfloat16", 0x1.fep127, 0x1p-126, 0x1p-134};

static enum misfit misfit_of(const struct format *format, const struct known_range *range)
{
    if (format == NULL || !range->is_known || range->largest == 0)
        return FITS;
    if (range->largest > format->largest)
        return IS_TOO_LARGE;
    if (range->largest <= format->flushed)
        return IS_FLUSHED;
    if (range->largest < format->smallest_normal)
        return IS_SUBNORMAL;
    return range->smallest <= format->flushed ? HAS_TINY : FITS;
}

enum misfit misfit_at_node(const struct format *format, const struct model *model, const struct known_range *ranges,
                           uint32_t index, uint32_t *ret_value)
{
    const struct node *node = &model->nodes.items[index];
    enum misfit ret = FITS;

    for (size_t i = 0; i < node->outputs.count + node_read_count(node); i++) {
        uint32_t value = i < node->outputs.count ? model_edge(model, node->outputs, i)
                                                 : node_read(model, node, i - node->outputs.count);
        enum misfit misfit = value != VALUE_NONE ? misfit_of(format, &ranges[value]) : FITS;

        if (misfit > ret) {
            ret = misfit;
            *ret_value = value;
        }
    }
    return ret;
}

const char *misfit_describe(struct parts *parts, const struct format *format, const struct known_range *range,
                            uint32_t value, uint32_t node, enum misfit misfit)
{
    struct investigation *investigation = parts->investigation;
    const struct model *model = parts->model;
    bool is_one = range->largest == range->smallest;
    bool is_constant = model->values.items[value].initializer != INITIALIZER_NONE;
    const char *who = investigation_text(investigation, "%s'%s', which '%s' (" TEXT_FORMAT ") %s,",
                                         is_constant ? "the constant " : "", parts_tensor(parts, value),
                                         parts_node(parts, node), TEXT_ARGS(model->nodes.items[node].op_type),
                                         model->values.items[value].producer == node ? "makes" : "reads");

    if (misfit == IS_TOO_LARGE)
        return investigation_text(investigation, "%s reaches %.6g; %s ends at %.6g", who, range->largest, format->name,
                                  format->largest);
    if (misfit == IS_FLUSHED)
        return investigation_text(investigation, "%s is %s%.3g; in %s that becomes 0", who, is_one ? "" : "at most ",
                                  range->largest, format->name);
    if (misfit == IS_SUBNORMAL)
        return investigation_text(investigation, "%s is %s%.3g; below %.3g %s has fewer digits", who,
                                  is_one ? "" : "at most ", range->largest, format->smallest_normal, format->name);
    return investigation_text(investigation, "%s has values down to %.3g; in %s they become 0", who, range->smallest,
                              format->name);
}
