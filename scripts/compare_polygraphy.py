#!/usr/bin/env python3
"""compare_polygraphy.py: runs the same command lines with this program and with NVIDIA's Polygraphy, and explains every difference.

    PEER/bin/python scripts/compare_polygraphy.py OURS PEER/bin/polygraphy [--only TEXT] [--keep FOLDER] [--options | --times ROUNDS]

OURS is this program, PEER a virtual environment with the versions of PINNED below:

    python3.11 -m venv PEER && PEER/bin/pip install polygraphy==0.53.6 numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0 \\
        onnx_graphsurgeon==0.6.1 colored==2.3.2

Each command line of CASES runs with both programs in equal, empty folders, and both use the same library of ONNX Runtime.
Compared are the exit status, the files that are left (models by their graphs, files of arrays by their bits) and the lines
of the log that match PHRASES. A command that differs needs a reason in CASES; one without a reason makes the script exit 1,
and so does a reason that is not needed any more. Prints a table; --options compares the options of every command instead,
--times the times of ten commands, as ratios.
"""

import argparse
import collections
import concurrent.futures
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import compare_programs

PINNED = {"polygraphy": "0.53.6", "numpy": "2.4.6", "onnx": "1.23.2", "onnxruntime": "1.32.0"}
PINNED_PYTHON = (3, 11)
ROOT = compare_programs.ROOT

# "== row" begins the commands of one row of the tables of Polygraphy's changes (0.49 to 0.53); each line is a command of the
# shell, and a line that begins with a blank continues the one before. "@" prepares files with the peer, for both. A line
# behind a command gives the reason of its differences:
#     ? better ASPECT...: why this program's answer is the better one
#     ? purpose ASPECT...: why it differs on purpose (the document that says so)
#     ? missing ASPECT...: what this program does not do yet
# with the aspects that may differ: exit, files, log.
CASES = (ROOT / "scripts" / "compare_polygraphy.txt").read_text()

# Lines of the log that both programs print alike; others are each program's own. Left out are histograms and values of
# outputs that do not match, which this program shows with -v, and the number of an iteration, which the peer also prints
# where nothing is compared.
PHRASES = [re.compile(pattern) for pattern in (
    r"^(PASSED|FAILED|SKIPPED) \|", r"Accuracy Summary \|", r"^Comparing Output: |\| Comparing Output: ", r"^Tolerance: ",
    r"Total Nodes \| Original", r"^---- (?!Histogram|Values|Inference).* ----$", r"^==== .* ====$", r"^Saving ", r"^Folding Constants",
    r"^Name: .* \| ONNX Opset", r"^Finished reducing model", r"^Minimum good|^Minimum bad", r"^Validating output|\| Validating output",
    r"^Node +[0-9]+ +\|", r"All outputs matched", r"Mismatched outputs", r"^Loaded .* iteration",
)]
# Not of interest: how long it took, what it was called, and where a line is in a paragraph.
REMOVED = [(re.compile(pattern), replacement) for pattern, replacement in (
    (r"\x1b\[[0-9;]*m", ""), (r"^\[[A-Z!]+\] *", ""), (r"^\s+|\s+$", ""), (r"-N(\d+)-<date>", r"-N\1"),
    (r"\| Runtime: .*", ""), (r"/\S*/(here|bin)/", ""), (r"(in|time:) <time>.*", ""),
)]

Command = collections.namedtuple("Command", "line kind aspects why")


def parse_rows(text):
    """The rows as (name, [line that prepares, ...], [Command, ...])."""
    rows = []
    for line in text.splitlines():
        if line.startswith("== "):
            rows.append((line[3:], [], []))
        elif line.startswith("? "):
            head, why = line[2:].split(": ", 1)
            kind, *aspects = head.split()
            rows[-1][2][-1] = rows[-1][2][-1]._replace(kind=kind, aspects=set(aspects), why=why)
        elif line.startswith(" "):
            rows[-1][2][-1] = rows[-1][2][-1]._replace(line=rows[-1][2][-1].line + line)
        elif line.startswith("@ "):
            rows[-1][1].append(line[2:])
        elif line and not line.startswith("#"):
            rows[-1][2].append(Command(line, "", set(), ""))
    return rows


# ---- What a file says ----


def describe_type(value):
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return kind
    tensor = value.type.tensor_type
    dims = [d.dim_param or (d.dim_value if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
    return f"{tensor.elem_type}{dims if tensor.HasField('shape') else ''}"


def describe_attribute(attribute, numpy_helper):
    if attribute.HasField("g"):
        return [attribute.name, describe_graph(attribute.g, numpy_helper)]
    if attribute.HasField("t"):
        return [attribute.name, describe_tensor(attribute.t, numpy_helper)]
    return [attribute.name, str(attribute)]


def describe_tensor(tensor, numpy_helper):
    if tensor.doc_string.startswith("TRT_WEIGHTLESS") and not tensor.raw_data:
        return [tensor.data_type, list(tensor.dims), tensor.doc_string]
    array = numpy_helper.to_array(tensor)
    return [str(array.dtype), list(array.shape), array.tobytes().hex()]


def describe_graph(graph, numpy_helper):
    """A graph without what no reader sees: the order of attributes and constants, types of inner tensors, documentation."""
    return {
        "inputs": [[value.name, describe_type(value)] for value in graph.input],
        "outputs": [[value.name, describe_type(value)] for value in graph.output],
        "constants": sorted([tensor.name, *describe_tensor(tensor, numpy_helper)] for tensor in graph.initializer),
        "nodes": [[node.domain, node.op_type, list(node.input), list(node.output),
                   sorted(describe_attribute(attribute, numpy_helper) for attribute in node.attribute)] for node in graph.node],
    }


def describe_model(path):
    import onnx

    model = onnx.load(path)
    return describe_graph(model.graph, onnx.numpy_helper)


def describe_arrays(path):
    import numpy

    with numpy.load(path) as arrays:
        return {name: [str(arrays[name].dtype), arrays[name].shape, arrays[name].tobytes().hex()] for name in arrays}


def normalize_json(value):
    """Runners without the time in their names, no times, and arrays as text."""
    if isinstance(value, dict):
        if "passing" in value and "failing" in value:  # node names of check lint: sets, in any order
            return {key: sorted(item) if isinstance(item, list) else item for key, item in value.items()}
        return {normalize_json(key): normalize_json(item) for key, item in value.items() if key != "runtime"}
    if isinstance(value, list):
        return [normalize_json(item) for item in value]
    return re.sub(r"(-N\d+)-[0-9/-]+[0-9:-]+", r"\1", value) if isinstance(value, str) else value


def describe_file(path):
    try:
        if path.suffix == ".onnx":
            return describe_model(path)
        if path.suffix == ".npz":
            return describe_arrays(path)
        if path.suffix == ".json":
            return normalize_json(json.loads(path.read_text()))
    except Exception as error:  # what cannot be read is compared as bytes, with the reason
        return [type(error).__name__, path.read_bytes()]
    return path.read_bytes() if path.suffix in (".bin", ".npy") else len(path.read_bytes()) > 0


def find_difference(ours, peer, where=""):
    """The first place in which two values differ, as a line; None: equal."""
    if isinstance(ours, dict) and isinstance(peer, dict):
        if ours.keys() != peer.keys():
            return f"{where}: {sorted(map(str, ours.keys() ^ peer.keys()))[:4]} only on one side"
        pairs = [(f"{where}/{key}", ours[key], peer[key]) for key in ours]
    elif isinstance(ours, (list, tuple)) and isinstance(peer, (list, tuple)):
        if len(ours) != len(peer):
            return f"{where}: {len(ours)} items and {len(peer)}"
        pairs = [(f"{where}/{i}", a, b) for i, (a, b) in enumerate(zip(ours, peer))]
    else:
        return None if ours == peer else f"{where}: {str(ours)[:60]!r} and {str(peer)[:60]!r}"
    return next(filter(None, (find_difference(a, b, place) for place, a, b in pairs)), None)


# ---- What a log says ----


def read_phrases(*paths):
    """The lines of logs that match PHRASES, sorted: the programs interleave standard output and errors differently."""
    found = []
    for path in paths:
        for line in compare_programs.normalize(path.read_bytes()).decode(errors="replace").splitlines():
            for pattern, replacement in REMOVED:
                line = pattern.sub(replacement, line)
            if any(pattern.search(line) for pattern in PHRASES):
                found.append(line)
    return sorted(found)


# ---- One command ----


def run_command(program, given, folder, line, environment):
    """Runs a line in FOLDER/here, which begins as a copy of `given`."""
    here = folder / "here"
    for name in ("bin", "tmp"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(given, here, symlinks=True)
    (folder / "bin" / "polygraphy").symlink_to(program)
    environment = dict(environment, PATH=f"{folder}/bin:{environment['PATH']}", HOME=str(folder / "tmp"), TMPDIR=str(folder / "tmp"))
    with open(folder / "stdout", "wb") as output, open(folder / "stderr", "wb") as errors:
        return compare_programs.run_line(line, here, environment, output, errors)


def list_files(here):
    return {str(path.relative_to(here)): path for path in sorted(here.rglob("*")) if path.is_file() and not path.is_symlink()
            and not path.relative_to(here).parts[0] == "models" and path.suffix != ".log"}


def compare_command(command, given, folder, programs, environment):
    """What differs: {aspect: line}."""
    status, found = {}, {}
    for side in ("ours", "peer"):
        status[side] = run_command(programs[side], given, folder / side, command.line, environment)
    if status["ours"] != status["peer"]:
        found["exit"] = f"exit status {status['ours']}, Polygraphy's {status['peer']}"
    files = {side: list_files(folder / side / "here") for side in status}
    if files["ours"].keys() != files["peer"].keys():
        found["files"] = "only here: {}, only there: {}".format(
            sorted(files["ours"].keys() - files["peer"].keys())[:6], sorted(files["peer"].keys() - files["ours"].keys())[:6])
    else:
        for name in files["ours"]:
            difference = find_difference(*(describe_file(files[side][name]) for side in ("ours", "peer")))
            if difference:
                found.setdefault("files", f"{name}{difference}")
    phrases = {side: read_phrases(folder / side / "stdout", folder / side / "stderr") for side in status}
    if phrases["ours"] != phrases["peer"]:
        ours, peer = (collections.Counter(phrases[side]) for side in ("ours", "peer"))
        found["log"] = f"only here: {list((ours - peer).elements())[:4]}, only there: {list((peer - ours).elements())[:4]}"
    return found


def run_row(name, preparation, commands, work, programs, environment):
    """The results of a row: [(Command, {aspect: line}), ...]."""
    folder = work / re.sub(r"[^a-z0-9]+", "_", name.lower())
    given = folder / "given"
    given.mkdir(parents=True)
    (given / "models").symlink_to(ROOT / "tests/models")
    for number, line in enumerate(preparation):
        if run_command(programs["peer"], given, folder / f"prepare{number}", line, environment) != "0":
            raise SystemExit(f"{name}: cannot prepare: {line}: {(folder / f'prepare{number}/stderr').read_text()[-2000:]}")
        shutil.rmtree(given)
        (folder / f"prepare{number}/here").rename(given)
    return [(command, compare_command(command, given, folder / str(i), programs, environment)) for i, command in enumerate(commands)]


def judge(command, found):
    """The verdict of one command, and whether it needs no attention."""
    unexplained = [aspect for aspect in found if aspect not in command.aspects]
    if unexplained:
        return "UNEXPLAINED " + " ".join(unexplained), False
    if command.kind and not found:
        return "REASON NOT NEEDED", False
    return {"": "same", "better": "better", "purpose": "different on purpose", "missing": "missing"}[command.kind], True


def compare_all(rows, programs, environment, work, jobs):
    counts = collections.Counter()
    good = True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [(row, pool.submit(run_row, *row, work, programs, environment)) for row in rows]
        for (name, _, _), job in running:
            print(f"\n{name}")
            for command, found in job.result():
                verdict, fine = judge(command, found)
                counts[verdict.split()[0] if not fine else verdict] += 1
                good &= fine
                print(f"  {verdict:<20} {command.line}", flush=True)
                if command.why:
                    print(f"  {'':<20}   {command.why}")
                if not fine:
                    print("".join(f"  {'':<20}   {aspect}: {line}\n" for aspect, line in found.items()), end="")
    print(f"\n{sum(counts.values())} commands: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    return good


# ---- Options ----

COMMANDS = ["run", "convert", "data merge", "data concat", "check lint", "check accuracy"] + [
    f"{tool} {subtool}" for tool, subtools in (
        ("inspect", "model data tactics capability diff-tactics sparsity"), ("debug", "build precision reduce repeat"),
        ("surgeon", "extract sanitize insert prune weight-strip weight-reconstruct")) for subtool in subtools.split()]
# Why this program lacks an option, or does not list it: the first pattern that fits.
LACKING = [(re.compile(pattern), why) for pattern, why in (
    (r"--(gen|gen-script|.*script|.*-func-name)$", "needs Python; refused with a sentence"),
    (r"--(tf|save-pb|save-tensorboard|freeze-graph|ckpt|uff.*|caffe.*|deploy|xla|gpu-memory.*|allow-growth|tftrt.*|minimum-segment-size|"
     r"dynamic-op|preprocessor|save-timeline|tf-outputs|opset|no-const-folding)$", "TensorFlow; refused with a sentence"),
    (r"--(trt-npps|trt-network-postprocess-script)$", "needs Python; refused with a sentence"),
    (r"--(load-runtime|mark-.*debug.*|onnx-flags|plugin.*|save-timing-cache|strongly-typed|.*tensor-(datatypes|dtypes|formats)|"
     r"decomposable-.*|.*-dla|dla-.*)$",
     "builds an engine: an option of convert, not of inspect"),
    (r"--lpips-threshold$", "needs the weights of a network; refused with a sentence"),
)]


def list_options(help_text):
    """The options that a help text describes: the words of lines that begin with one."""
    found = set()
    for line in re.findall(r"^ {1,6}(-.*)", help_text, re.M):
        found.update(re.findall(r"(?<![\w-])--[a-z0-9][\w-]*", line.split("  ")[0]))
    return found


def compare_options(programs, environment):
    lacking, good = collections.defaultdict(list), True
    total = 0
    for command in COMMANDS:
        def run(side, *words):
            return subprocess.run([programs[side], *command.split(), *words], env=environment, capture_output=True, text=True, check=False)
        options = list_options(run("peer", "--help").stdout)
        total += len(options)
        ours = set(re.findall(r"(?<![\w-])--[a-z0-9][\w-]*", run("ours", "--help-all").stdout))
        for option in options - ours:
            said = run("ours", "x", "-o", "x", "--until", "1", f"{option}=1", "--check", "true").stderr
            if f"'{option}=1'" in said or "are required" in said:
                lacking[option].append(command)
    for option, commands in sorted(lacking.items()):
        why = next((why for pattern, why in LACKING if pattern.search(option)), None)
        good &= why is not None
        print(f"  {option:<44} {why or 'NO REASON':<60} {', '.join(commands)}")
    print(f"{total} options of {len(COMMANDS)} commands: {sum(map(len, lacking.values()))} are unknown here")
    return good


# ---- Times ----

TIMED = (
    ("--help", "polygraphy --help"),
    ("inspect model", "polygraphy inspect model large.onnx --show layers"),
    ("run, a small model", "polygraphy run models/identity.onnx --onnxrt"),
    ("debug reduce, 1,000 nodes", "polygraphy debug reduce chain1000.onnx -o out.onnx --mode bisect"
     " --check check_nodes polygraphy_debug.onnx --fail-node node_500"),
    ("debug reduce, 10,000 nodes", "polygraphy debug reduce large.onnx -o out.onnx --mode bisect"
     " --check check_nodes polygraphy_debug.onnx --fail-node node_5000"),
    ("folding", "polygraphy surgeon sanitize chain1000.onnx --fold-constants -o out.onnx"),
    ("100 MB of JSON written", "polygraphy run wide.onnx --onnxrt --save-outputs out.json"),
    ("100 MB of JSON read", "polygraphy inspect data wide.json"),
    ("convert", "polygraphy convert large.onnx -o out.onnx"),
    ("check lint", "polygraphy check lint chain1000.onnx"),
)


def make_timed_models(folder, environment):
    import onnx
    from onnx import TensorProto, helper

    (folder / "models").symlink_to(ROOT / "tests/models")
    for name, nodes in ("chain1000", 1000), ("large", 10000):
        subprocess.run(["make_chain", f"{name}.onnx", str(nodes), "0", "chain"], cwd=folder, env=environment, check=True)
    shape = [100, 196608]  # 75 MiB, which base64 makes 100 MiB
    graph = helper.make_graph([helper.make_node("Expand", ["x", "shape"], ["y"])], "wide",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 196608])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
                              [helper.make_tensor("shape", TensorProto.INT64, [2], shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "wide.onnx")
    subprocess.run([environment["OURS"], "run", "wide.onnx", "--onnxrt", "--save-outputs", "wide.json"], cwd=folder, env=environment,
                   check=True, stdout=subprocess.DEVNULL)


def compare_times(programs, environment, work, rounds):
    """Runs each command in turns, and prints the smallest time of each program and their ratio."""
    given = work / "given"
    given.mkdir(parents=True)
    make_timed_models(given, dict(environment, OURS=str(programs["ours"])))
    for name, line in TIMED:
        times = {"ours": [], "peer": []}
        for number in range(rounds):
            for side in times:
                folder = work / f"{number}{side}"
                (folder / "bin").mkdir(parents=True)
                (folder / "bin" / "polygraphy").symlink_to(programs[side])
                shutil.copytree(given, folder / "here", symlinks=True)
                own = dict(environment, PATH=f"{folder}/bin:{environment['PATH']}", HOME=str(folder))
                begin = time.monotonic()
                status = compare_programs.run_line(line, folder / "here", own, subprocess.DEVNULL, subprocess.DEVNULL)
                times[side].append(time.monotonic() - begin)
                if status != "0":
                    raise SystemExit(f"{name}: exit status {status} ({side})")
                shutil.rmtree(folder)
        ours, peer = min(times["ours"]), min(times["peer"])
        print(f"  {name:<28} {ours:8.3f} s {peer:8.3f} s   {peer / ours:6.1f} times as fast", flush=True)
    return True


def check_versions():
    found = {name: importlib.metadata.version(name) for name in PINNED}
    if found != PINNED or sys.version_info[:2] != PINNED_PYTHON:
        raise SystemExit(f"needs Python {'.'.join(map(str, PINNED_PYTHON))} with {PINNED}; this is {sys.version.split()[0]} with {found}")


def make_environment(peer):
    library = next(pathlib.Path(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/capi")).glob("libonnxruntime.so.*"))
    build = ROOT / "build"
    return {
        "PATH": f"{build}/tests:{build}/bench:{peer.parent}:/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "POLYGRAPHY_TRT": "builtin", "POLYGRAPHY_ONNXRUNTIME": str(library), "OMP_NUM_THREADS": "1",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours", type=pathlib.Path)
    parser.add_argument("peer", type=pathlib.Path)
    parser.add_argument("--only", default="", help="only rows whose name, or commands that, contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rows at the same time")
    parser.add_argument("--options", action="store_true", help="compare the options of all commands instead")
    parser.add_argument("--times", type=int, metavar="ROUNDS", help="compare the times of ten commands instead")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder in which the files of all commands are kept")
    arguments = parser.parse_args()
    check_versions()
    programs = {"ours": arguments.ours.absolute(), "peer": arguments.peer.absolute()}
    environment = make_environment(programs["peer"])
    rows = [row for row in parse_rows(CASES) if arguments.only in row[0] or any(arguments.only in c.line for c in row[2])]
    work = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="compare."))
    try:
        if arguments.options:
            good = compare_options(programs, environment)
        elif arguments.times:
            good = compare_times(programs, environment, work.absolute(), arguments.times)
        else:
            good = compare_all(rows, programs, environment, work.absolute(), arguments.jobs)
    finally:
        if not arguments.keep:
            shutil.rmtree(work, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
