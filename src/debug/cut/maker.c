/* debug/cut/maker.c: see maker.h. */
#include "debug/cut/maker.h"

void candidate_maker_init(struct candidate_maker *maker, const struct model *model,
                          const struct candidate_settings *settings, struct log *log)
{
    struct candidate_knowledge *known = &maker->known;

    *maker = (struct candidate_maker){
        .settings = settings,
        .log = log,
    };
    arena_init(&maker->arena);
    known_types_init(&known->types, model, &maker->arena);
    known_types_init(&known->assumed, model, &maker->arena);
    bitset_init(&known->not_tensors, model->values.count);
    bitset_init(&known->untold, model->values.count);
    bitset_init(&known->valueless, model->values.count);
    subgraph_init_whole(&maker->whole, model);
    maker->whole.known = &known->types;
    /* Types known later must not change how candidates are written. */
    maker->whole.only_stated = true;
    value_list_to_set(&maker->whole.inputs, model->values.count, &maker->whole_inputs);
    maker->fixes_shapes = settings->fixed_shapes;
    for (size_t i = 0; i < model->inputs.count; i++)
        maker->fixes_shapes &= subgraph_is_static(&maker->whole, model->inputs.items[i]);
    reference_values_new(&maker->whole, settings->backend, &settings->request, settings->loader, log,
                         &maker->reference);
    if (settings->golden != NULL)
        reference_values_set_golden(maker->reference, settings->golden, &settings->golden_request);
}

static void release_knowledge(struct candidate_knowledge *known)
{
    known_types_release(&known->types);
    known_types_release(&known->assumed);
    bitset_release(&known->not_tensors);
    bitset_release(&known->untold);
    bitset_release(&known->valueless);
}

void candidate_maker_release(struct candidate_maker *maker)
{
    reference_values_free(maker->reference);
    bitset_release(&maker->whole_inputs);
    release_knowledge(&maker->known);
    subgraph_release(&maker->whole);
    arena_release(&maker->arena);
}

void candidate_maker_look_ahead(struct candidate_maker *maker, bool begins)
{
    struct candidate_knowledge *known = &maker->known, *before = &maker->known_before;

    if (!begins) {
        release_knowledge(known);
        *known = *before;
        return;
    }
    *before = *known;
    known_types_init_copy(&known->types, &before->types);
    known_types_init_copy(&known->assumed, &before->assumed);
    bitset_init_copy(&known->not_tensors, &before->not_tensors);
    bitset_init_copy(&known->untold, &before->untold);
    bitset_init_copy(&known->valueless, &before->valueless);
}
