/* engine/network/decisions.c: see decisions.h. */
#include "engine/network/decisions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"

static const char *const kinds[] = {
    FOLDING_OF_CONSTANTS, FOLDING_OF_AFFINE_NODES, "fusion:bias",    "fusion:sum",  "fusion:relu",
    "fusion:leaky_relu",  "fusion:clip",           "fusion:sigmoid", "fusion:tanh", "fusion:elu",
    "fusion:swish",       "fusion:hard_swish",     "fusion:gelu",
};

/* A disabled word, split at the '@'. */
struct decision_rule {
    const char *word;
    struct text kind, label; /* label.data is NULL without an '@' */
    bool is_exact;           /* the label matches a node literally */
    bool may_miss;           /* it may match nothing */
    bool used;
};

static bool rule_is_pattern(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (strchr("*?[", text.data[i]) != NULL)
            return true;
    return false;
}

/* ---- Labels ---- */

/* Names are written to JSON and NUL-terminated: bytes that are not visible UTF-8 become '?'. */
static struct text make_word_visible(struct model *model, struct text label)
{
    char *copy = arena_text(&model->arena, label);

    for (size_t i = 0, length; i < label.size; i += length) {
        length = text_utf8_length(label.data + i, label.size - i);
        if (length == 0 || (length == 1 && (unsigned char)label.data[i] < ' ')) {
            copy[i] = '?';
            length = 1;
        }
    }
    return (struct text){copy, label.size};
}

void node_labels_init(struct node_labels *labels, struct model *model)
{
    *labels = (struct node_labels){0};
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct text label = node->name;

        for (size_t k = 0; label.size == 0 && k < node->outputs.count; k++) {
            uint32_t output = model_edge(model, node->outputs, k);

            if (output != VALUE_NONE)
                label = text_of(
                    arena_printf(&model->arena, "node_of_" TEXT_FORMAT, TEXT_ARGS(model->values.items[output].name)));
        }
        if (label.size == 0)
            label = text_of(model_node_label(model, (uint32_t)i));
        *VECTOR_APPEND(labels) = make_word_visible(model, label);
    }
}

void node_labels_release(struct node_labels *labels)
{
    free(labels->items);
    *labels = (struct node_labels){0};
}

/* ---- Disabled decisions ---- */

static int refuse_decision_word(const char *word, const char *why, const struct close_names *close, struct error *err)
{
    SCOPED_STRING(hint);

    close_names_add_to(close, &hint);
    return error_set(err, ERR_INVALID, "'%s' cannot be disabled: %s%s", word, why, hint.data);
}

static int read_decision_rule(const char *word, struct decision_rule *ret, struct error *err)
{
    bool may_miss = *word == NAME_MAY_MISS;
    size_t size;
    struct close_names close;

    word += may_miss;
    size = strcspn(word, "@");
    *ret = (struct decision_rule){.word = word, .kind = {word, size}, .may_miss = may_miss};
    if (word[size] == '@')
        ret->label = text_of(word + size + 1);
    close_names_start(&close, ret->kind);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (text_matches_pattern(text_of(kinds[i]), ret->kind))
            return 0;
        close_names_offer(&close, text_of(kinds[i]));
    }
    return refuse_decision_word(word, "the engine has no decision of that kind", &close, err);
}

int network_decisions_init(struct network_decisions *decisions, struct model *model, struct words disabled,
                           struct error *err)
{
    int rc = 0;

    *decisions = (struct network_decisions){.model = model, .rule_count = disabled.count};
    name_map_init(&decisions->names);
    decisions->rules = memory_alloc_zero(disabled.count, sizeof(*decisions->rules));
    for (size_t i = 0; rc == 0 && i < disabled.count; i++)
        rc = read_decision_rule(disabled.items[i], &decisions->rules[i], err);
    return rc;
}

void network_decisions_release(struct network_decisions *decisions)
{
    name_map_release(&decisions->names);
    free(decisions->rules);
    free(decisions->items);
    *decisions = (struct network_decisions){0};
}

static int refuse_unknown_label(const struct decision_rule *rule, const struct node_labels *labels, struct error *err)
{
    struct close_names close;

    close_names_start(&close, rule->label);
    for (size_t i = 0; i < labels->count; i++)
        close_names_offer(&close, labels->items[i]);
    return refuse_decision_word(rule->word, "no node of the engine's network has that name", &close, err);
}

int network_decisions_set_labels(struct network_decisions *decisions, const struct node_labels *labels,
                                 struct error *err)
{
    SCOPED_NAME_MAP(map);
    int rc = 0;

    for (size_t i = 0; decisions->rule_count > 0 && i < labels->count; i++)
        name_map_add(&map, labels->items[i], 0);
    for (size_t i = 0; rc == 0 && i < decisions->rule_count; i++) {
        struct decision_rule *rule = &decisions->rules[i];
        bool covers = rule->label.data == NULL;

        rule->is_exact = rule->label.data != NULL && name_map_find(&map, rule->label) != NAME_MAP_NONE;
        for (size_t k = 0; !covers && !rule->is_exact && k < labels->count && rule_is_pattern(rule->label); k++)
            covers = text_matches_pattern(labels->items[k], rule->label);
        if (!covers && !rule->is_exact && !rule->may_miss)
            rc = refuse_unknown_label(rule, labels, err);
    }
    return rc;
}

static bool rule_covers_decision(const struct decision_rule *rule, const char *kind, struct text label)
{
    if (rule->is_exact && !text_equal(label, rule->label))
        return false;
    return text_matches_pattern(text_of(kind), rule->kind) &&
           (rule->is_exact || rule->label.data == NULL || text_matches_pattern(label, rule->label));
}

/* ---- Deciding ---- */

static struct decision *find_or_add_decision(struct network_decisions *decisions, const char *kind, struct text label,
                                             bool *ret_added)
{
    struct arena *arena = &decisions->model->arena;
    const char *name =
        label.size > 0 ? arena_printf(arena, "%s@" TEXT_FORMAT, kind, TEXT_ARGS(label)) : arena_strdup(arena, kind);
    uint32_t number = name_map_add(&decisions->names, text_of(name), (uint32_t)decisions->count);

    *ret_added = number == decisions->count;
    if (*ret_added)
        *VECTOR_APPEND(decisions) = (struct decision){.name = name, .kind = kind, .label = label};
    return &decisions->items[number];
}

bool network_decisions_are_off(const struct network_decisions *decisions, const char *kind, struct text label)
{
    for (size_t i = 0; i < decisions->rule_count; i++)
        if (rule_covers_decision(&decisions->rules[i], kind, label))
            return true;
    return false;
}

bool network_decisions_allow(struct network_decisions *decisions, const char *kind, struct text label)
{
    bool is_off = false, is_new;
    struct decision *decision = find_or_add_decision(decisions, kind, label, &is_new);

    for (size_t i = 0; i < decisions->rule_count; i++)
        if (rule_covers_decision(&decisions->rules[i], kind, label))
            is_off = decisions->rules[i].used = true;
    if (is_off)
        decision->state = DECISION_OFF;
    else if (!decisions->rehearses)
        decision->state = DECISION_TAKEN;
    else if (is_new)
        decision->state = DECISION_PREVENTED;
    return decisions->rehearses || !is_off;
}

void network_decisions_rehearse(struct network_decisions *decisions, bool rehearses)
{
    decisions->rehearses = rehearses;
}

/* ---- Final check ---- */

static bool decisions_disable_folding(const struct network_decisions *decisions)
{
    for (size_t i = 0; i < decisions->count; i++)
        if (decisions->items[i].state == DECISION_OFF &&
            text_begins_with(text_of(decisions->items[i].kind), "folding:"))
            return true;
    return false;
}

/* "fusion:*" disables all of them, even if there are none. */
static bool rule_is_whole_family(const struct decision_rule *rule)
{
    return rule->label.data == NULL &&
           (text_equal(rule->kind, TEXT("fusion:*")) || text_equal(rule->kind, TEXT("folding:*")));
}

static int refuse_idle_rule(const struct network_decisions *decisions, const struct decision_rule *rule,
                            struct error *err)
{
    struct close_names close;

    close_names_start(&close, text_of(rule->word));
    for (size_t i = 0; i < decisions->count; i++)
        close_names_offer(&close, text_of(decisions->items[i].name));
    return refuse_decision_word(rule->word, "no such decision is made for this model", &close, err);
}

int network_decisions_check(const struct network_decisions *decisions, struct log *log, struct error *err)
{
    const struct decision_rule *first = NULL;
    size_t idle = 0;

    ARRAY_EACH (const struct decision_rule, rule, decisions->rules, decisions->rule_count) {
        if (rule->used || rule->may_miss || rule_is_whole_family(rule))
            continue;
        if (!decisions_disable_folding(decisions))
            return refuse_idle_rule(decisions, rule, err);
        first = idle++ == 0 ? rule : first;
    }
    if (idle > 0)
        log_message(log, LOG_INFO,
                    "While foldings are disabled, %zu name%s, such as '%s', matched no decision; with foldings enabled "
                    "there may be one",
                    idle, idle > 1 ? "s" : "", first->word);
    return 0;
}
