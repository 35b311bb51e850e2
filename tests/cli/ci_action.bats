# ci_action.bats: the GitHub action of action.yml, whose scripts run here with the environment that a runner gives them, and
# the examples of docs/ci.md.

load debug_helper

# act INPUT=VALUE...: runs the action in an empty $RUNNER_TEMP.
act()
{
    /usr/bin/python3 -c 'import yaml' || skip 'needs python3-yaml'
    export RUNNER_TEMP=$PWD/temporary
    rm -rf temporary
    mkdir temporary
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/run_action.py" "$POLYGRAPHY_ROOT/action.yml" "$@"
}

one_node()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/one_node.py" "$@"
}

@test "the action passes on a good model, and keeps what it found out" {
    one_node "a model.onnx" Add 1
    act model="a model.onnx" run='--onnxrt --onnxrt --validate --val-range "[0, 1]"' tolerance=0.5 code-scanning=true
    [ "$status" -eq 0 ]
    [[ $output == *"output lint passed"*"output run passed"* ]]
    [[ $output == *"uses actions/upload-artifact@v4 name=polygraphy path=$RUNNER_TEMP/polygraphy-results "* ]]
    [[ $output == *"uses github/codeql-action/upload-sarif@v4 sarif_file=$RUNNER_TEMP/polygraphy-results/lint.sarif "* ]]
    cd temporary/polygraphy-results
    diff <(ls) <(printf '%s\n' lint.log lint.sarif lint.xml report.html run.log run.xml)
    grep -q '"uri": "a%20model.onnx"' lint.sarif
    grep -q 'allowed: 0.5 absolute, 0.5 relative' run.xml
}

@test "the action fails on a bad model, with all that is wrong with it, and says so in the summary" {
    ln -s "$POLYGRAPHY_ROOT/tests/models/impossible_nodes.onnx" bad.onnx
    act model=bad.onnx
    [ "$status" -eq 1 ]
    [[ $output == *"output lint failed"*"output run failed"* ]]
    [[ $output == *"uses actions/upload-artifact@v4"* ]]
    [[ $output != *"upload-sarif"* ]]
    grep -qx '| `polygraphy check` | failed |' temporary/GITHUB_STEP_SUMMARY
    grep -qx '| tests | 23, of which 1 failed and 0 ended in an error |' temporary/GITHUB_STEP_SUMMARY
    grep -q '^    \[E\] LINT | Name: matmul' temporary/GITHUB_STEP_SUMMARY
    [ -s temporary/polygraphy-results/run.xml ]
    act model=missing.onnx run='' artifact=''
    [ "$status" -eq 1 ]
    [[ $output == *"output lint failed"*"output run skipped"* ]]
    [[ $output != *"uses "* ]]
    act model=bad.onnx program=./no-such-program
    [ "$status" -eq 1 ]
    [[ $output == *"::error::polygraphy is not there"* ]]
}

@test "nothing that inputs say is executed, nor what a model says taken for a command of the runner" {
    one_node good.onnx Add 1
    act model='$(touch a).onnx' lint='`touch b`' run='--onnxrt "$(touch c)" ; touch d' tolerance='1; touch e' program='polygraphy'
    [ "$status" -eq 1 ]
    act model=good.onnx run="--onnxrt 'not closed"
    [ "$status" -ne 0 ]
    act model=--help
    [ "$status" -eq 1 ]
    [ -z "$(ls | grep -vx -e temporary -e good.onnx)" ]
    token=$(grep -m 1 -oP '^::stop-commands::\K.*' <<<"$output")
    [ "${#token}" -ge 8 ]
    grep -qx "::$token::" <<<"$output"
}

@test "the examples of docs/ci.md are the files of examples/ci, and the one for GitLab works" {
    /usr/bin/python3 -c 'import yaml' || skip 'needs python3-yaml'
    for file in github.yml gitlab-ci.yml; do
        diff <(awk -v name="examples/ci/$file" 'index($0, name) { seen = 1 } seen && /^```$/ { exit } inside { print } seen && /^```yaml$/ { inside = 1 }' \
            "$POLYGRAPHY_ROOT/docs/ci.md") "$POLYGRAPHY_ROOT/examples/ci/$file"
        /usr/bin/python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$POLYGRAPHY_ROOT/examples/ci/$file"
    done
    # Its inputs are those of the action.
    /usr/bin/python3 - "$POLYGRAPHY_ROOT" <<'END'
import sys, yaml
root = sys.argv[1]
steps = yaml.safe_load(open(root + "/examples/ci/github.yml"))["jobs"]["model"]["steps"]
given = set(steps[-1]["with"])
assert given <= set(yaml.safe_load(open(root + "/action.yml"))["inputs"]), given
END
    mkdir -p models
    one_node models/classifier.onnx Add 1
    polygraphy run models/classifier.onnx --onnxrt --save-inputs models/inputs.json
    /usr/bin/python3 -c '
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["model"]
print("set -e; npm() { :; }")
print("\n".join("export %s=%s" % item for item in job["variables"].items()))
print("\n".join(job["script"]))' "$POLYGRAPHY_ROOT/examples/ci/gitlab-ci.yml" >script
    POLYGRAPHY_TRT=builtin run bash script
    [ "$status" -eq 0 ]
    diff <(ls results) <(printf '%s\n' lint.xml report.html run.xml)
    one_node models/classifier.onnx Div 0
    POLYGRAPHY_TRT=builtin run bash script
    [ "$status" -eq 1 ]
    grep -q '<failure' results/run.xml
}
