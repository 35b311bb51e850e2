# report.bats: --report and --report-data, and their pages in a browser.

load debug_helper

hostile='</script>"><img src=x onerror=window.fired=1>'

# A model of four nodes, whose names are NAME with a letter in front.
make_model()
{
    /usr/bin/python3 - "$1" "$2" <<'END'
import sys, onnx
from onnx import TensorProto, helper
path, name = sys.argv[1:]
nodes = [helper.make_node("Relu", ["x"], ["a" + name], "a" + name),
         helper.make_node("Exp", ["a" + name], ["b" + name], "b" + name),
         helper.make_node("Neg", ["a" + name], ["c" + name], "c" + name),
         helper.make_node("Add", ["b" + name, "c" + name], ["y" + name], "d" + name)]
values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in ("x", "y" + name)]
graph = helper.make_graph(nodes, "four", values[:1], values[1:])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
END
}

needs_browser()
{
    command -v chromium >/dev/null && command -v chromedriver >/dev/null || skip "there is no Chromium with its driver"
    /usr/bin/python3 -c 'import selenium' || skip "there is no python3-selenium"
}

@test "inspect model writes a page, and its numbers" {
    make_model model.onnx ""
    run polygraphy inspect model model.onnx --report report.html --report-data result.json
    [ "$status" -eq 0 ]
    logged 'Report: report.html'
    [ "$(json_value 'it["verdict"]["kind"]')" = unknown ]
    [ "$(json_value '[n["operator"] for n in it["network"]["nodes"]]')" = "['Relu', 'Exp', 'Neg', 'Add']" ]
    [ "$(json_value 'it["tables"][0]["rows"][0][1]')" = 1.0 ]
    [ "$(json_value 'it["commands"][0]["line"].split()[1:4]')" = "['inspect', 'model', 'model.onnx']" ]
    grep -q "<h1 id=\"verdict\">$(json_value 'it["verdict"]["text"]')</h1>" report.html
}

@test "without Graphviz the page has a table, and the log says so" {
    make_model model.onnx ""
    mkdir empty
    PATH=$PWD/empty run "$POLYGRAPHY" inspect model model.onnx --report-data result.json
    [ "$status" -eq 0 ]
    logged "The report shows the network as a table: Graphviz is not installed: there is no program 'dot'"
    [ "$(json_value '"layout" in it["network"], it["network"]["no_layout"].split(":")[0]')" = "(False, 'Graphviz is not installed')" ]
}

@test "what dot answers is not believed" {
    make_model model.onnx ""
    mkdir bin
    printf '#!/bin/sh\necho "graph 1 2 2"\necho "node 99999 1 1"\n' >bin/dot
    chmod +x bin/dot
    PATH=$PWD/bin:$PATH run "$POLYGRAPHY" inspect model model.onnx --report-data result.json
    [ "$status" -eq 0 ]
    logged 'The report shows the network as a table: line 2 of what dot has written makes no sense'
    printf '#!/bin/sh\necho no >&2\nexit 3\n' >bin/dot
    PATH=$PWD/bin:$PATH run "$POLYGRAPHY" inspect model model.onnx --report-data result.json
    logged 'as a table: dot \(Graphviz\) ended with exit code 3: no$'
}

@test "a report is not written over the model, and one that would not be written is refused" {
    make_model model.onnx ""
    cp model.onnx before.onnx
    run polygraphy inspect model model.onnx --report model.onnx
    [ "$status" -ne 0 ]
    cmp model.onnx before.onnx
    run polygraphy inspect model model.onnx --display-as trt --report report.html
    [ "$status" -ne 0 ]
    [[ $output == *'leave out --display-as'* ]]
    [ ! -e report.html ]
}

@test "pages work in a browser, whatever names are in them" {
    needs_browser
    command -v dot >/dev/null || skip "there is no Graphviz"
    require_onnxruntime
    make_model plain.onnx ""
    make_model hostile.onnx "$hostile"
    mkdir empty
    polygraphy inspect model plain.onnx --report inspect.html
    "$POLYGRAPHY_TEST_PROGRAMS/report_sample" plain.onnx b all.html all.json
    "$POLYGRAPHY_TEST_PROGRAMS/report_sample" hostile.onnx "b$hostile" hostile.html hostile.json
    PATH=$PWD/empty "$POLYGRAPHY_TEST_PROGRAMS/report_sample" hostile.onnx "b$hostile" none.html none.json
    polygraphy run hostile.onnx --onnxrt --trt --fp16 --onnx-outputs mark all --report results.html || [ $? -eq 1 ]
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/report_browser.py" \
        inspect=inspect.html results=results.html all=all.html hostile=hostile.html no-graph=none.html
    echo "$output"
    [ "$status" -eq 0 ]
}
