"""Tests of the Python package with the built program and library, which the environment names (tests/cli/python.bats)."""

import contextlib
import importlib.metadata
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy
import polygraphy_native as pn
from polygraphy_native import _arrays, comparator

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import onnx
except ImportError:
    onnx = None
try:
    import polygraphy
except ImportError:
    polygraphy = None

ROOT = os.environ["POLYGRAPHY_ROOT"]
DETECTOR = ROOT + "/examples/overflow/detector.onnx"
ATTENTION = ROOT + "/examples/accuracy/attention.onnx"
MODELS = ROOT + "/tests/models/"


# Of a NodeProto: the member op_type, with its length.
DIV, GEMM, CONV = b"\x22\x03Div", b"\x22\x04Gemm", b"\x22\x04Conv"


def passes(candidate):
    """Fails on models with both of two operators."""
    data = candidate.read()
    return not (DIV in data and GEMM in data)


class Reduce(unittest.TestCase):
    def test_function_finds_what_a_command_finds(self):
        command = "! { grep -aqP '\\x22\\x03Div' {artifact} && grep -aqP '\\x22\\x04Gemm' {artifact}; }"
        for mode in ("bisect", "linear", "minimal"):
            by_function = pn.reduce(DETECTOR, passes, mode=mode)
            by_command = pn.reduce(DETECTOR, command, mode=mode)
            self.assertEqual(by_function.outcome, "reduced", mode)
            self.assertEqual(by_function.model, by_command.model, mode)
            self.assertEqual(by_function.nodes, by_command.nodes, mode)
        self.assertEqual([node["name"] for node in by_function.nodes], ["block3/norm/div", "head"])
        self.assertTrue(by_function.one_minimal)

    def test_model_may_be_bytes(self):
        with open(DETECTOR, "rb") as file:
            result = pn.reduce(file.read(), passes, mode="minimal")
        self.assertEqual(len(result.nodes), 2)

    @unittest.skipUnless(onnx, "the package onnx is not installed")
    def test_model_may_be_a_proto(self):
        result = pn.reduce(onnx.load(DETECTOR), lambda c: not {"Div", "Gemm"} <= {n.op_type for n in c.load().graph.node})
        self.assertEqual({"Div", "Gemm"} - {node.op_type for node in result.load().graph.node}, set())

    def test_output_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/reduced.onnx"
            result = pn.reduce(DETECTOR, passes, mode="minimal", output=path)
            self.assertEqual(result.path, path)
            self.assertIsNone(result.model)
            self.assertEqual(os.listdir(folder), ["reduced.onnx"])

    def test_candidates_come_with_data(self):
        seen = []

        def check(candidate):
            seen.append(candidate.inputs[0].keys())
            return passes(candidate)

        image = numpy.zeros((1, 3, 16, 16), numpy.float32)
        result = pn.reduce(DETECTOR, check, mode="minimal", with_data=True, feeds={"image": image})
        self.assertIn("image", seen[0])
        self.assertIn("head_out", result.golden[0])
        self.assertNotIn("image", result.inputs[0])

    def test_assertion_fails_with_its_text(self):
        lines = []

        def check(candidate):
            if not passes(candidate):
                raise AssertionError("it is wrong")

        result = pn.reduce(DETECTOR, check, mode="minimal", log=lambda level, line: lines.append(line))
        self.assertEqual(len(result.nodes), 2)
        self.assertTrue(any("it is wrong" in line for line in lines))

    def test_numbers_tell_failures_apart(self):
        def check(candidate):
            return 0 if passes(candidate) else 3 if b"image" in candidate.read() else 4

        result = pn.reduce(DETECTOR, check, mode="minimal")
        self.assertGreater(len(result.nodes), 2)
        self.assertGreater(result.checks["other_failure"], 0)

    def test_inconclusive_candidates_are_skipped(self):
        def check(candidate):
            if CONV not in candidate.read():
                raise pn.Inconclusive("no convolution")
            return passes(candidate)

        result = pn.reduce(DETECTOR, check, mode="minimal")
        self.assertIn("Conv", [node["op_type"] for node in result.nodes])
        self.assertGreater(result.checks["skipped"], 0)

    def test_exception_ends_the_search_and_is_raised(self):
        calls = []

        def check(candidate):
            calls.append(candidate.path)
            if len(calls) == 3:
                raise KeyError("broken")
            return passes(candidate)

        with self.assertRaisesRegex(KeyError, "broken"):
            pn.reduce(DETECTOR, check, mode="minimal")
        self.assertEqual(len(calls), 3)
        self.assertFalse(os.path.exists(os.path.dirname(calls[0])))

    def test_options_of_commands_are_refused(self):
        for options in ({"jobs": 2}, {"check_timeout": 3}, {"launcher": "nice"}):
            with self.assertRaisesRegex(pn.Error, "--check-fd"):
                pn.reduce(DETECTOR, passes, mode="minimal", **options)

    def test_check_that_does_not_read_is_found_out(self):
        with self.assertRaisesRegex(pn.Error, "fails on every model"):
            pn.reduce(DETECTOR, lambda candidate: False, mode="minimal")

    def test_model_that_passes(self):
        result = pn.reduce(DETECTOR, lambda candidate: len(candidate.read()) > 0 and parses(candidate))
        self.assertEqual(result.outcome, "original does not fail")
        self.assertIsNone(result.model)

    def test_progress(self):
        seen = []
        pn.reduce(DETECTOR, passes, mode="minimal", progress=seen.append)
        numbers = [item.iteration for item in seen if item.iteration]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_checks_are_called_on_the_calling_thread(self):
        threads = set()

        def check(candidate):
            threads.add(threading.get_ident())
            return passes(candidate)

        worker = threading.Thread(target=lambda: threads.add(pn.reduce(DETECTOR, check) and threading.get_ident()))
        worker.start()
        worker.join()
        self.assertEqual(len(threads), 1)
        self.assertNotEqual(threads, {threading.get_ident()})

    def test_check_may_start_a_search(self):
        inner = []

        def check(candidate):
            if not inner:
                inner.append(pn.reduce(DETECTOR, passes, mode="minimal"))
            return passes(candidate)

        self.assertEqual(pn.reduce(DETECTOR, check, mode="minimal").nodes, inner[0].nodes)


def parses(candidate):
    if not candidate.read().startswith(b"\x08"):
        raise ValueError("not a model")
    return True


class Interruption(unittest.TestCase):
    def test_ctrl_c(self):
        for moment in ("check", "command"):
            folders = []

            def check(candidate, moment=moment, folders=folders):
                folders.append(os.path.dirname(candidate.path))
                if moment == "check":
                    signal.raise_signal(signal.SIGINT)
                    time.sleep(0)
                return passes(candidate)

            if moment == "command":
                check = "sleep 0.02; false"
                threading.Timer(0.4, signal.raise_signal, [signal.SIGINT]).start()
            before = signal.getsignal(signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                pn.reduce(DETECTOR, check, mode="linear", signature="off")
                self.fail("it was not interrupted")
            self.assertEqual(signal.getsignal(signal.SIGINT), before)
            for folder in folders:
                self.assertFalse(os.path.exists(folder))


class Run(unittest.TestCase):
    def setUp(self):
        self.image = numpy.linspace(0, 1, 768, dtype=numpy.float32).reshape(1, 3, 16, 16)

    def test_arrays(self):
        result = pn.run(MODELS + "identity.onnx", {"x": numpy.array([[[[1, 2], [3, 4]]]], numpy.float32)})
        numpy.testing.assert_array_equal(result["y"].ravel(), [1, 2, 3, 4])
        result["y"][:] = 0  # a private copy, also after the file is gone
        self.assertEqual(result.keys(), ["y"])

    def test_runners_are_compared(self):
        result = pn.run(ATTENTION, runners=["onnxrt", "trt"], fp16=True, norm_tolerance=0.01)
        self.assertFalse(result)
        self.assertEqual(len(result.runners), 2)
        self.assertEqual([entry["output"] for entry in result.failures()], [result.comparisons[0]["output"]])
        self.assertIn("elements differ", str(result))

    def test_iterations_and_outputs(self):
        feeds = [{"image": self.image}, {"image": self.image * 2}]
        result = pn.run(DETECTOR, feeds, onnx_outputs=["stem_out"])
        self.assertEqual(len(result.runners[0].iterations), 2)
        numpy.testing.assert_allclose(
            result.runners[0].iterations[1]["stem_out"].mean(),
            pn.run(DETECTOR, {"image": self.image * 2}, onnx_outputs=["stem_out"])["stem_out"].mean(),
        )

    def test_error_is_the_programs_message(self):
        with self.assertRaisesRegex(pn.Error, "does not exist"):
            pn.run("nowhere.onnx")
        with self.assertRaisesRegex(pn.Error, "ONNX Runtime cannot load") as caught:
            pn.run(b"\x08\x08")
        self.assertEqual(caught.exception.exit_code, 1)

    def test_first_divergence(self):
        result = pn.first_divergence(ATTENTION, fp16=True, norm_tolerance=0.01)
        self.assertEqual(result.first_node["name"], "scores")
        self.assertIn("'scores'", str(result))

    def test_report(self):
        result = pn.run(DETECTOR, report=True)
        self.assertIn("<html", result.report)
        self.assertIn("<iframe srcdoc=", result._repr_html_())
        self.assertIn("<pre>", pn.run(DETECTOR)._repr_html_())


class Compare(unittest.TestCase):
    def test_tolerances(self):
        a, b = {"y": numpy.array([1, 2, 3], numpy.float32)}, {"y": numpy.array([1, 2.5, 3], numpy.float32)}
        result = pn.compare(a, b)
        self.assertFalse(result)
        self.assertEqual(result.comparisons[0]["differences"]["worst"]["position"], [1])
        self.assertTrue(pn.compare(a, b, atol={"y": 0.6}))
        self.assertTrue(pn.compare([a, a], [b, b], compare="snr", snr_threshold=10))

    def test_every_type(self):
        types = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
        types += ["float16", "float32", "float64"]
        if ml_dtypes:
            types += ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
        for name in types:
            array = numpy.array([[0, 1], [1, 1]]).astype(_arrays.dtype_of(name))
            self.assertTrue(pn.compare({"y": array}, {"y": array.copy()}), name)

    def test_shapes_without_elements_and_dimensions(self):
        for array in (numpy.float32(3), numpy.zeros((2, 0, 3), numpy.float32), numpy.zeros((4, 4), numpy.float32)[::2, ::2]):
            self.assertTrue(pn.compare({"y": array}, {"y": numpy.array(array)}))

    def test_what_is_no_array_is_refused(self):
        with self.assertRaisesRegex(pn.Error, "'y' is an array of"):
            pn.compare({"y": ["a"]}, {"y": ["a"]})
        with self.assertRaisesRegex(pn.Error, "no outputs"):
            pn.compare(3, {"y": numpy.zeros(1)})


class Assertions(unittest.TestCase):
    def setUp(self):
        self.model = MODELS + "identity.onnx"
        self.x = {"x": numpy.ones((1, 1, 2, 2), numpy.float32)}

    def test_what_matches(self):
        for reference in (lambda feeds: {"y": feeds["x"]}, {"y": self.x["x"]}, [{"y": self.x["x"]}], self.model, "trt"):
            self.assertTrue(pn.assert_matches(self.model, reference, self.x))

    def test_nothing_is_compared_with_itself(self):
        with self.assertRaisesRegex(pn.Error, "both 'onnxrt'"):
            pn.assert_matches(self.model, "onnxrt", self.x)

    def test_what_a_check_returns(self):
        for verdict in (256, 0.3):
            with self.assertRaisesRegex(pn.Error, "the check returned"):
                pn.reduce(self.model, lambda candidate, verdict=verdict: verdict)

    def test_message_names_the_first_wrong_node(self):
        with self.assertRaisesRegex(AssertionError, r"first wrong node: 'scores' \(MatMul\)\n.*output 'y' of"):
            pn.assert_matches(ATTENTION, "trt", fp16=True, norm_tolerance=0.01)
        with self.assertRaisesRegex(AssertionError, "output 'y' of 'Identity #0': 4 of 4 elements differ"):
            pn.assert_matches(self.model, {"y": self.x["x"] + 1}, self.x)

    def test_report_of_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/report.html"
            pn.assert_matches(self.model, {"y": self.x["x"]}, self.x, report=path)
            self.assertFalse(os.path.exists(path))
            with self.assertRaisesRegex(AssertionError, "report: " + path):
                pn.assert_matches(self.model, {"y": self.x["x"] + 1}, self.x, report=path)
            self.assertTrue(os.path.exists(path))

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_fixture(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/test_it.py", "w", encoding="utf-8") as file:
                file.write("def test_it(polygraphy):\n")
                file.write(f"    polygraphy.assert_matches({ATTENTION!r}, 'trt', fp16=True, norm_tolerance=0.01)\n")
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--polygraphy-report", folder + "/reports"]
            if "polygraphy_native" not in {entry.name for entry in importlib.metadata.entry_points(group="pytest11")}:
                command += ["-p", "polygraphy_native.pytest_plugin"]
            done = subprocess.run([*command, "test_it.py"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("first wrong node: 'scores' (MatMul)", done.stdout)
            self.assertIn(f"report: {folder}/reports/test_it.py_test_it.html", done.stdout)
            self.assertEqual(os.listdir(folder + "/reports"), ["test_it.py_test_it.html"])


class Comparator(unittest.TestCase):
    def setUp(self):
        self.y = numpy.arange(4, dtype=numpy.float32)
        self.pairs = [("a", [{"y": self.y}, {"y": self.y}]), ("b", [{"y": self.y}, {"y": self.y + 1}])]

    def test_pairs_of_names_and_iterations(self):
        result = comparator.compare_accuracy(self.pairs)
        self.assertEqual([entry["passed"] for entry in result.comparisons], [True, False])
        self.assertTrue(comparator.compare_accuracy(self.pairs, atol=1.5))
        self.assertTrue(comparator.validate(self.pairs))
        self.assertFalse(comparator.validate([("a", [{"y": self.y / numpy.float32("nan")}])]))

    def test_files_of_polygraphy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/results.json"
            comparator.as_results(self.pairs).save(path)
            again = comparator.load(path)
            self.assertEqual([name for name, _ in again], ["a", "b"])
            numpy.testing.assert_array_equal(again["b"][1]["y"], self.y + 1)
            self.assertFalse(comparator.compare_accuracy(path))

    def test_what_is_no_result_is_refused(self):
        with self.assertRaisesRegex(pn.Error, "int is not RunResults"):
            comparator.compare_accuracy(3)

    @unittest.skipUnless(polygraphy, "Polygraphy is not installed")
    def test_results_of_polygraphy_itself(self):
        from polygraphy.comparator import IterationResult, RunResults

        theirs = RunResults([(name, [IterationResult(item, 0.5) for item in items]) for name, items in self.pairs])
        self.assertTrue(comparator.compare_accuracy(theirs, atol=1.5))
        again = comparator.to_polygraphy(comparator.as_results(theirs))
        self.assertEqual([name for name, _ in again], ["a", "b"])
        self.assertEqual(again[0][1][0].runtime, 0.5)
        numpy.testing.assert_array_equal(again[1][1][1]["y"], self.y + 1)


class Scripts(unittest.TestCase):
    """Those of docs/python-scripts.md and docs/python.md."""

    def blocks(self, page):
        with open(f"{ROOT}/docs/{page}", encoding="utf-8") as file:
            return re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)

    def run_script(self, code):
        before = os.getcwd()
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
            os.chdir(ROOT)
            try:
                exec(code.replace('"a.json"', repr(folder + "/a.json")), {})
            finally:
                os.chdir(before)
        lines = [line for line in out.getvalue().splitlines() if not re.match(r"\x1b|\[.\]| {4}", line)]
        self.assertTrue(lines, code)
        return lines[-1]

    @unittest.skipUnless(onnx, "the package onnx is not installed")
    def test_counterparts_of_polygraphys_scripts(self):
        head, *scripts = self.blocks("python-scripts.md")
        self.assertEqual(len(scripts), 20)
        for theirs, ours in zip(scripts[0::2], scripts[1::2]):
            printed = self.run_script(head + ours)
            if polygraphy:
                self.assertEqual(self.run_script(head + theirs), printed, theirs)

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime"), "the package onnxruntime is not installed")
    def test_first_example(self):
        self.assertEqual(self.run_script(self.blocks("python.md")[0]), "['block2/norm/div']")


class Arrays(unittest.TestCase):
    @unittest.skipUnless(ml_dtypes, "the package ml_dtypes is not installed")
    def test_input_of_half_bytes(self):
        array = numpy.array([1, -2, 7], ml_dtypes.int4)
        with tempfile.TemporaryDirectory() as folder:
            (word,) = _arrays.write_inputs(folder, {"x": array})
            name, path, dtype, shape = word.split(":")
            self.assertEqual((name, dtype, shape), ("x", "int4", "[3]"))
            with open(path, "rb") as file:
                self.assertEqual(file.read(), bytes([0xE1, 0x07]))

    def test_results_are_read_as_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.safetensors"
            _arrays.write_results(path, [_arrays.runner_of("me", [{"a/b": numpy.arange(3)}, {"a/b": numpy.arange(4)}])])
            (runner,) = _arrays.read_results(path)
            self.assertEqual(runner.name, "me")
            numpy.testing.assert_array_equal(runner.iterations[1]["a/b"], numpy.arange(4))


class Models(unittest.TestCase):
    def test_extract(self):
        result = pn.extract(DETECTOR, outputs=["stem_out"])
        self.assertEqual(result.written["nodes"], 1)
        self.assertGreater(len(result.model), 100)
        with self.assertRaises(pn.Error):
            pn.extract(DETECTOR, outputs=["nothing"])

    def test_fold(self):
        result = pn.fold(MODELS + "foldable.onnx")
        self.assertLess(result.written["nodes"], result.read["nodes"])
        self.assertGreater(result.folding["computed"], 0)

    def test_lint(self):
        result = pn.lint(MODELS + "impossible_nodes.onnx")
        self.assertFalse(result.passed)
        self.assertEqual({node for entry in result.lint_entries for node in entry["nodes"]}, {"matmul", "add"})
        self.assertTrue(pn.lint(MODELS + "identity.onnx").passed)


class Debug(unittest.TestCase):
    def test_accuracy(self):
        result = pn.accuracy(ATTENTION, fp16=True)
        self.assertEqual((result.verdict, result.cause["kind"]), ("cause", "overflow"))
        self.assertIn("scores:float32", result.cause["fix"]["options"])

    def test_precision(self):
        def check(candidate):
            return numpy.isfinite(pn.run(candidate.path, runners=["trt"], model_type="engine")["y"]).all()

        result = pn.precision(ATTENTION, check, fp16=True)
        self.assertTrue(result.found)
        self.assertTrue(result.layers)

    def test_quantization(self):
        folder = ROOT + "/examples/quantization/"
        result = pn.quantization(folder + "quantized.onnx", float_model=folder + "float.onnx", compare="snr", snr_threshold=30)
        self.assertEqual(result.outcome, "found")
        self.assertTrue(result.left_out)
        self.assertLess(set(result.left_out), {item["name"] for item in result.quantizers})
        with self.assertRaisesRegex(pn.Error, "has no quantizers"):
            pn.quantization(folder + "float.onnx")

    def test_passes(self):
        result = pn.passes(MODELS + "attention_overflow.onnx")
        self.assertIn(result.verdict, ("passed", "unknown", "cause", "failed"))
        self.assertIsNotNone(result.outcome)

    def test_passes_with_a_function(self):
        seen = []

        def check(candidate):
            seen.append(candidate.disabled)
            return "ConstantFolding" in candidate.disabled

        result = pn.passes(MODELS + "foldable.onnx", check=check)
        self.assertEqual(result.off, ["ConstantFolding"])
        self.assertIn([], [[name for name in names if name] for names in seen])


class Processes(unittest.TestCase):
    def test_import_needs_no_onnx(self):
        code = "import sys, polygraphy_native; print(sorted({'onnx', 'onnxruntime'} & set(sys.modules)))"
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.strip(), "[]")

    def test_nothing_is_printed_or_left(self):
        code = f"import polygraphy_native as pn; pn.run({DETECTOR!r}); pn.reduce({DETECTOR!r}, lambda c: b'Gemm' not in c.read())"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=folder, env={**os.environ, "TMPDIR": folder}, capture_output=True
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr, os.listdir(folder)), (0, b"", b"", []))


if __name__ == "__main__":
    unittest.main()
