/* cli/inspect/diff_tactics_json.h: a comparison of tactics as JSON. */
#ifndef CLI_INSPECT_DIFF_TACTICS_JSON_H
#define CLI_INSPECT_DIFF_TACTICS_JSON_H

#include "debug/tactics/diff.h"

/* Writes an object with these members:
 *   good, bad         the paths of the replays
 *   only_in_bad       a list with "layer" and "algorithms" for each layer that has algorithms that no good build has
 *   ranking           null unless there are good and bad builds:
 *     suspects          the most probable first
 *       probability       that one of its tactics is the culprit
 *       tactics           "layer" and "algorithm"; more than one when they always occurred together
 *       kernels           those that are wrong in all their layers, one or more in place of tactics, or in
 *                         addition to them when they always occurred together: "kernel" (its name), "scope" (what
 *                         its tactics have in common:
 *                         "implementation", "tactic" or "tensors"), "layers" (their names), "tactics"
 *       bad_with, good_with, bad_without, good_without      numbers of builds
 *       failure_rate_difference                             "value", "low", "high": with a confidence of 95 %
 *       ochiai, fisher_p, holm_p
 *     no_culprit        probability that no tactic matters
 *     layers, fixed_layers                  how many there are, how many have the same tactic in every build
 *     varying_tactics, varying_kernels      how many differ between builds
 *     distinct_tactics                      how many of both do in different ways
 *     more_builds       how many should settle it; null: no idea
 *     pair              "good" and "bad": the replays to prove the first suspect on with `debug tactics`; null: there
 *                       is no suspect, or there are no two builds in the same precision
 */
int tactic_diff_save(const struct tactic_diff *diff, const char *path, struct error *err);

#endif
