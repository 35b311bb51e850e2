# debug_report.bats: --report of the debug tools: the search, and what each check has written.

load debug_helper

export POLYGRAPHY_TRT=builtin
chain=$POLYGRAPHY_ROOT/tests/models/chain17.onnx

# What the report's numbers say to a Python expression over `report`.
says()
{
    python3 -c 'import json, sys
report = json.load(open("report.json"))
assert eval(sys.argv[1]), report' "$1"
}

@test "reduce: every candidate with its size, verdict and log, and the culprit in the network" {
    run --separate-stderr polygraphy debug reduce "$chain" -o reduced.onnx --mode minimal -j 2 --report report.html \
        --report-data report.json --check sh -c 'echo looked at "$1"; ! grep -q n9 "$1"' sh polygraphy_debug.onnx
    worked
    logged 'Report: report.html'
    says 'report["verdict"]["kind"] == "cause" and "fails alone" in report["verdict"]["text"]'
    says 'report["search"] == "nodes" and len(report["candidates"]) > 3'
    says 'all("looked at polygraphy_debug.onnx" in each["log"] for each in report["candidates"])'
    says '{each["verdict"] for each in report["candidates"]} == {"passed", "failed"}'
    says 'report["candidates"][0]["size"] == 17'
    grep -q '</html>' report.html
}

@test "repeat: the iterations, of which a third fails" {
    run --separate-stderr polygraphy debug repeat --until 3 --report-data report.json \
        --check sh -c 'test $POLYGRAPHY_ITERATION != 1'
    worked
    says 'report["verdict"] == {"kind": "failed", "text": "1 of 3 iterations failed",
                                "proof": ["3 iterations: 2 passed, 1 failed, 0 skipped"]}'
    says '[each["verdict"] for each in report["candidates"]] == ["passed", "failed", "passed"]'
    [ ! -e report.html ]
}

@test "a report that cannot be written is refused before anything is checked" {
    : >file
    run --separate-stderr polygraphy debug repeat --until 1 --report file/report.html --check touch checked
    [ "$status" -ne 0 ]
    [ ! -e checked ]
    [[ $stderr == *file/report.html* ]]
}
