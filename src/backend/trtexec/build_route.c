/* backend/trtexec/build_route.c: see build_route.h. */
#include "backend/trtexec/build_route.h"

#include <string.h>

#include "base/process/process.h"
#include "base/text/names.h"
#include "format/trtexec/build_knobs.h"

#define SECONDS_FOR_LIST 60

static const struct trtexec_wish wish = {"--build-route", "--setBuildRoute", NULL};

/* ---- Which there are ---- */

static int ask_routes(const struct trtexec *program, struct process_result *ret, struct error *err)
{
    const char *const arguments[] = {program->path, "--helpBuildRoute", NULL};
    const char *const environment[] = {"TRT_INTERNAL_OPTIONS", NULL};
    int rc = process_run(&(struct process_request){.arguments = arguments,
                                                   .program = program->path,
                                                   .environment = environment,
                                                   .timeout = SECONDS_FOR_LIST,
                                                   .without_input = true},
                         ret, err);

    if (rc < 0 || (ret->end == PROCESS_EXITED && ret->code == 0))
        return rc;
    rc = error_set(err, ERR_BACKEND, "'%s --helpBuildRoute' %s", program->path,
                   ret->end == PROCESS_EXITED      ? "fails"
                   : ret->end == PROCESS_TIMED_OUT ? "does not end"
                                                   : "crashes");
    process_result_release(ret);
    return rc;
}

static int list_trtexec_knobs(const struct trtexec *program, struct build_knobs *ret, struct error *err)
{
    struct process_result result;
    int rc = trtexec_require(program, "--helpBuildRoute", "build routes", NULL, err);

    if (rc == 0)
        rc = ask_routes(program, &result, err);
    if (rc < 0)
        return rc;
    rc = build_knobs_parse(ret, (struct text){result.out.data, result.out.size}, err);
    process_result_release(&result);
    return rc;
}

/* ---- What a build is told ---- */

/* "-NAME=VALUE", or without the '-'. */
static struct text find_route_name(const char *word)
{
    word += *word == '-';
    return (struct text){word, strcspn(word, "=")};
}

static int refuse_knob(const struct build_knobs *knobs, const char *word, struct error *err)
{
    struct text name = find_route_name(word);
    struct string_builder close;
    struct close_names names;
    int rc;

    string_init(&close);
    close_names_start(&names, name);
    for (size_t i = 0; i < knobs->count; i++)
        close_names_offer(&names, text_of(knobs->items[i].name));
    close_names_add_to(&names, &close);
    rc = error_set(err, ERR_INVALID,
                   "%s: TensorRT has no knob '" TEXT_FORMAT "' (`trtexec --helpBuildRoute` lists "
                   "them)%s",
                   wish.wish, TEXT_ARGS(name), close.size > 0 ? close.data : "");
    string_release(&close);
    return rc;
}

static int check_word(const struct build_knobs *knobs, const char *word, struct error *err)
{
    struct text name = find_route_name(word);
    const struct build_knob *knob = build_knobs_find(knobs, name);
    const char *value = name.data[name.size] == '=' ? name.data + name.size + 1 : "";
    struct string_builder values;
    int rc = 0;

    if (knob == NULL)
        return refuse_knob(knobs, word, err);
    string_init(&values);
    for (size_t i = 0; i < knob->value_count; i++) {
        if (strcmp(knob->values[i], value) == 0)
            goto done;
        string_add_format(&values, "%s%s", i > 0 ? ", " : "", knob->values[i]);
    }
    rc = error_set(err, ERR_INVALID, "%s: '%s' is no value of TensorRT's knob '%s'; there are %s", wish.wish, value,
                   knob->name, values.data);
done:
    string_release(&values);
    return rc;
}

int trtexec_check_route(const struct tensorrt_settings *settings, struct error *err)
{
    const struct words *route = &settings->build_route;
    struct build_knobs knobs;
    int rc;

    if (route->count == 0)
        return 0;
    rc = trtexec_require(settings->program, wish.option, wish.wish, wish.instead, err);
    if (rc == 0)
        rc = list_trtexec_knobs(settings->program, &knobs, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < route->count && rc == 0; i++)
        rc = check_word(&knobs, route->items[i], err);
    build_knobs_release(&knobs);
    return rc;
}

void trtexec_words_route(struct trtexec_words *words)
{
    const struct words *route = &words->settings->build_route;
    struct string_builder text;

    if (route->count == 0 || !trtexec_words_require(words, wish))
        return;
    string_init(&text);
    string_add_format(&text, "%s=", wish.option);
    for (size_t i = 0; i < route->count; i++) {
        const char *word = route->items[i];
        size_t later = i + 1;

        while (later < route->count && !text_equal(find_route_name(route->items[later]), find_route_name(word)))
            later++;
        if (later == route->count)
            string_add_format(&text, "%s-%s", text.data[text.size - 1] == '=' ? "" : " ", word + (*word == '-'));
    }
    trtexec_words_add(words, arena_strdup(words->arena, text.data));
    string_release(&text);
}
