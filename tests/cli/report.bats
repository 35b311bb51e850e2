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

# A model of which two nodes compute a constant: 'cast', then 'turn'.
make_constants()
{
    /usr/bin/python3 - "$1" <<'END'
import sys, numpy, onnx
from onnx import TensorProto, helper, numpy_helper
nodes = [helper.make_node("Cast", ["w"], ["c"], "cast", to=TensorProto.FLOAT), helper.make_node("Transpose", ["c"], ["t"], "turn"),
         helper.make_node("MatMul", ["x", "t"], ["y"], "product")]
values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 2]) for n in ("x", "y")]
graph = helper.make_graph(nodes, "constants", values[:1], values[1:], [numpy_helper.from_array(numpy.eye(2), "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), sys.argv[1])
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
    [ "$(json_value '[n["op"] for n in it["network"]["nodes"]]')" = "['Relu', 'Exp', 'Neg', 'Add']" ]
    [ "$(json_value 'it["tables"][0]["rows"][0][1]')" = 1.0 ]
    [ "$(json_value 'it["commands"][0]["line"].split()[1:4]')" = "['inspect', 'model', 'model.onnx']" ]
    grep -q "<h1 id=\"verdict\">$(json_value 'it["verdict"]["text"]')</h1>" report.html
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
    require_onnxruntime
    make_model plain.onnx ""
    make_model hostile.onnx "$hostile"
    polygraphy inspect model plain.onnx --report inspect.html
    "$POLYGRAPHY_TEST_PROGRAMS/report_sample" plain.onnx b all.html all.json
    "$POLYGRAPHY_TEST_PROGRAMS/report_sample" hostile.onnx "b$hostile" hostile.html hostile.json
    make_constants constants.onnx
    "$POLYGRAPHY_TEST_PROGRAMS/report_sample" constants.onnx cast constants.html constants.json
    polygraphy run hostile.onnx --onnxrt --trt --fp16 --onnx-outputs mark all --report results.html || [ $? -eq 1 ]
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/report_browser.py" \
        inspect=inspect.html results=results.html all=all.html hostile=hostile.html constants=constants.html
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the pages of debug tools show the network with the nodes that the answer names" {
    needs_browser
    require_onnxruntime
    export POLYGRAPHY_TRT=builtin
    cp "$POLYGRAPHY_ROOT/examples/accuracy/attention.onnx" .
    polygraphy debug accuracy attention.onnx --onnxrt --trt --fp16 --builds 1 --runs 1 -o folder
    polygraphy run attention.onnx --onnxrt --save-outputs golden.json
    polygraphy debug precision attention.onnx --mode minimal --report precision.html --check \
        polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2
    polygraphy debug reduce "$POLYGRAPHY_ROOT/tests/models/chain17.onnx" -o reduced.onnx --mode minimal --report reduce.html \
        --check sh -c '! grep -q n9 "$1"' sh polygraphy_debug.onnx
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/report_browser.py" \
        accuracy=folder/report.html precision=precision.html reduce=reduce.html
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a model of which a part cannot be read gives a page without its network, and the log says why" {
    make_model model.onnx ""
    printf '\312\001\002\012\177' >>model.onnx # a function whose name is longer than the file
    run polygraphy inspect model model.onnx --report report.html --report-data result.json
    [ "$status" -eq 0 ]
    logged 'The report has no network: a function is damaged'
    [ "$(json_value '"network" in it, len(it["tables"])')" = '(False, 2)' ]
}
