# ci.bats: what pipelines read: test results (JUnit's XML), findings (SARIF), and exit codes. Files are held against
# tests/support/schemas/.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
schemas=$POLYGRAPHY_ROOT/tests/support/schemas

require_xmllint()
{
    command -v xmllint >/dev/null || skip 'needs xmllint (libxml2-utils)'
}

# Test results $1 as "NAME: OUTCOME message" lines, after they were held against the schema, and their counts counted.
results()
{
    xmllint --noout --schema "$schemas/junit.xsd" "$1" 2>xmllint.txt || {
        cat xmllint.txt
        return 1
    }
    /usr/bin/python3 - "$1" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
suite = root.find("testsuite")
cases = suite.findall("testcase")
for name, element in ("failures", "failure"), ("errors", "error"):
    assert int(suite.get(name)) == int(root.get(name)) == len(suite.findall("testcase/" + element)), name
assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
assert int(suite.get("tests")) == len(cases)
for case in cases:
    bad = [case.find(what) for what in ("failure", "error", "skipped") if case.find(what) is not None]
    print(case.get("name") + ":", *([bad[0].tag, bad[0].get("message")] if bad else ["passed"]))
END
}

# one_node PATH OPERATOR NUMBER
one_node()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/one_node.py" "$@"
}

@test "run: a test for each comparison, with the numbers of what differs; runners are called the same each time" {
    require_xmllint
    one_node plus.onnx Add 1
    one_node more.onnx Add 1.5
    polygraphy run plus.onnx --onnxrt --onnxrt --iterations 2 --save-outputs out.json --junit same.xml
    diff <(results same.xml) - <<'END'
y: onnxrt-runner-N0 against onnxrt-runner-N1, iteration 0: passed
y: onnxrt-runner-N0 against onnxrt-runner-N1, iteration 1: passed
END
    run ! polygraphy run more.onnx --onnxrt --load-outputs out.json --iterations 1 --junit differs.xml --atol 0.25 --rtol 0
    results differs.xml >found
    grep -qx 'y: onnxrt-runner-N0 against onnxrt-runner-N0, iteration 0: failure largest error 0\.5[0-9]* absolute, .* allowed: 0\.25 absolute, 0 relative (elemwise); 2 of 2 elements differ, first at (0,): 1\.91.*, where the other has 1\.41.*' found
    grep -q 'classname="polygraphy.more"' differs.xml
    # Two runs of one command differ in times alone.
    sleep 1.1 # names of runners have seconds
    mv differs.xml first.xml
    run ! polygraphy run more.onnx --onnxrt --load-outputs out.json --iterations 1 --junit differs.xml --atol 0.25 --rtol 0
    diff <(sed -E 's/time="[0-9.]+"//g' first.xml) <(sed -E 's/time="[0-9.]+"//g' differs.xml)
}

@test "run: values that are no numbers are failures, and what does not run is an error" {
    require_xmllint
    one_node division.onnx Div 0
    run ! polygraphy run division.onnx --onnxrt --validate --junit nan.xml
    [ "$(results nan.xml)" = 'y: numbers of onnxrt-runner-N0, iteration 0: failure 0 NaN and 2 infinities among 2 elements, the first one at (0,)' ]
    polygraphy run division.onnx --onnxrt --junit alone.xml
    [ "$(results alone.xml)" = 'y: computed by onnxrt-runner-N0, iteration 0: passed' ]
    run ! polygraphy run "$models/impossible_nodes.onnx" --onnxrt --junit error.xml
    results error.xml | grep -q '^polygraphy run: error ONNX Runtime cannot load'
    run ! polygraphy run missing.onnx --onnxrt --junit missing.xml
    [ "$(results missing.xml)" = "polygraphy run: error model 'missing.onnx' does not exist" ]
    # Of options that do not go together, too; but never over what is read.
    run ! polygraphy debug reduce division.onnx --junit options.xml --check true
    results options.xml | grep -q '^polygraphy debug reduce: error the result would not be saved: neither --output nor --min-good'
    cp division.onnx before.onnx
    run ! polygraphy run division.onnx --onnxrt --junit division.onnx
    cmp division.onnx before.onnx
    run ! polygraphy run division.onnx --onnxrt --junit before.onnx/results.xml
    run ! polygraphy run missing.onnx --onnxrt --junit "" # a variable that a pipeline has not set: said before the work
    [[ $output == *'--junit: the name of the file to write is empty'* ]]
}

@test "check lint: a test for each rule, of which warnings do not fail, and the same as SARIF" {
    require_xmllint
    run ! polygraphy check lint "$models/impossible_nodes.onnx" --junit bad.xml --sarif bad.sarif
    results bad.xml >found
    grep -qx 'node-fails: failure ONNX Runtime refuses a node, or fails on it.' found
    grep -qx 'missing-ir-version: passed' found
    [ "$(grep -c failure found)" -eq 1 ]
    # Damaged: nothing is known of all else.
    head -c 40 "$models/impossible_nodes.onnx" >"a b%.onnx"
    run ! polygraphy check lint "a b%.onnx" --junit damaged.xml --sarif damaged.sarif
    [ "$(results damaged.xml | grep -vc ': skipped not applied')" -eq 1 ]
    one_node good.onnx Add 1
    polygraphy check lint good.onnx --junit good.xml --sarif good.sarif
    [ "$(results good.xml | grep -vc ': passed$')" -eq 0 ]
    run ! polygraphy check lint missing.onnx --sarif missing.sarif
    [ ! -e missing.sarif ]
    grep -q '"uri": "a%20b%25.onnx"' damaged.sarif
    /usr/bin/python3 -c 'import jsonschema' || skip 'needs python3-jsonschema'
    /usr/bin/python3 - "$schemas/sarif.json" bad damaged good <<'END'
import json, sys, jsonschema
with open(sys.argv[1]) as file:
    validator = jsonschema.Draft4Validator(json.load(file))
for name in sys.argv[2:]:
    with open(name + ".sarif") as file:
        log = json.load(file)
    validator.validate(log)
    run = log["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    found = [result["ruleId"] for result in run["results"]]
    assert found == {"bad": ["node-fails"] * 2, "damaged": ["model-unreadable"], "good": []}[name], found
    nodes = [place["name"] for result in run["results"] for place in result["locations"][0].get("logicalLocations", [])]
    assert name != "bad" or nodes == ["matmul", "add"], nodes
END
}

@test "debug: iterations of build and repeat are tests; a search is one, and passes when it has found its answer" {
    require_xmllint
    run -4 polygraphy debug repeat --until 3 --exit-code --junit repeat.xml \
        --check 'printf "\001\033[31m<&\377"; exit $((POLYGRAPHY_ITERATION == 1))'
    diff <(results repeat.xml) - <<'END'
iteration 1: passed
iteration 2: failure the check failed
iteration 3: passed
END
    one_node division.onnx Div 0
    polygraphy debug reduce division.onnx -o reduced.onnx --mode minimal --junit reduce.xml \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    [ "$(results reduce.xml)" = 'verdict: passed' ]
    grep -q "'the node' fails alone: 1 node of 1" reduce.xml
    rm -f polygraphy_debug_replay.json
    run -4 polygraphy debug reduce division.onnx --min-good good.onnx --exit-code --junit none.xml \
        --check polygraphy run polygraphy_debug.onnx --onnxrt
    diff <(results none.xml) - <<'END'
verdict: skipped The original model does not fail the check
polygraphy debug reduce: failure The exit status is 4
END
}

@test "debug accuracy: what fails without a cause is a failure, and nothing that fails passes" {
    require_xmllint
    one_node good.onnx Add 1
    run -1 polygraphy debug accuracy good.onnx --onnxrt --runner false --junit refused.xml
    results refused.xml | grep -q '^verdict: failure .'
    polygraphy debug accuracy good.onnx --onnxrt --onnxrt-threads 1 --onnxrt --onnxrt-threads 2 -o same --junit same.xml
    [ "$(results same.xml)" = 'verdict: passed' ]
}

@test "an interrupted session leaves what was tested, and says that it was interrupted" {
    require_xmllint
    polygraphy debug repeat --until 1000 --junit stopped.xml --check 'touch began; sleep 0.1' &
    until [ -e began ]; do sleep 0.05; done
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 143 ]
    results stopped.xml | tail -n 1 | grep -qx 'polygraphy debug repeat: error Interrupted: Terminated'
}
