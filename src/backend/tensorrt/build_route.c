/* backend/tensorrt/build_route.c: see build_route.h. */
#include "backend/tensorrt/build_route.h"

#include <string.h>

#include "backend/tensorrt/library.h"
#include "base/text/names.h"
#include "format/tensorrt/build_knobs.h"

#define OPTION "--build-route"

/* "-NAME=VALUE", or without the '-'. */
static struct text find_route_name(const char *word)
{
    word += *word == '-';
    return (struct text){word, strcspn(word, "=")};
}

static int refuse_knob(const struct build_knobs *knobs, struct text name, struct error *err)
{
    struct close_names names;
    SCOPED_STRING(close);

    close_names_start(&names, name);
    for (size_t i = 0; i < knobs->count; i++)
        close_names_offer(&names, text_of(knobs->items[i].name));
    close_names_add_to(&names, &close);
    return error_set(err, ERR_INVALID, OPTION ": TensorRT has no knob '" TEXT_FORMAT "'%s", TEXT_ARGS(name),
                     close.size > 0 ? close.data : "");
}

static int check_word(const struct build_knobs *knobs, const char *word, struct error *err)
{
    struct text name = find_route_name(word);
    const struct build_knob *knob = build_knobs_find(knobs, name);
    const char *value = name.data[name.size] == '=' ? name.data + name.size + 1 : "";
    SCOPED_STRING(values);

    if (knob == NULL)
        return refuse_knob(knobs, name, err);
    for (size_t i = 0; i < knob->value_count; i++) {
        if (strcmp(knob->values[i], value) == 0)
            return 0;
        string_add_format(&values, "%s%s", i > 0 ? ", " : "", knob->values[i]);
    }
    return error_set(err, ERR_INVALID, OPTION ": '%s' is not a value of TensorRT's knob '%s': expected one of %s",
                     value, knob->name, values.data);
}

/* Where the list of knobs is missing or not understood, TensorRT alone decides. */
static int check_route(void *config, const struct words *route, struct error *err)
{
    const char *list = tensorrt_has(TENSORRT_METHOD(VBuilderConfig, getAllBuildRoutes))
                           ? TENSORRT_GET(VBuilderConfig, getAllBuildRoutes, config)
                           : NULL;
    struct build_knobs knobs;
    int rc = 0;

    if (list == NULL || build_knobs_parse(&knobs, text_of(list), NULL) < 0)
        return 0;
    for (size_t i = 0; i < route->count && rc == 0; i++)
        rc = check_word(&knobs, route->items[i], err);
    build_knobs_release(&knobs);
    return rc;
}

int tensorrt_set_build_route(void *config, const struct tensorrt_settings *settings, struct error *err)
{
    const struct words *route = &settings->build_route;
    SCOPED_STRING(text);

    if (route->count == 0)
        return 0;
    if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, setBuildRoute), OPTION, err) < 0 ||
        check_route(config, route, err) < 0)
        return err->code;
    for (size_t i = 0; i < route->count; i++) {
        const char *word = route->items[i];
        size_t later = i + 1;

        while (later < route->count && !text_equal(find_route_name(route->items[later]), find_route_name(word)))
            later++;
        if (later == route->count)
            string_add_format(&text, "%s-%s", text.size > 0 ? " " : "", word + (*word == '-'));
    }
    return TENSORRT_CALL(VBuilderConfig, setBuildRoute, config, text.data)
               ? 0
               : error_set(err, ERR_INVALID, OPTION ": TensorRT refuses '%s'", text.data);
}
