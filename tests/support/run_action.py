"""run_action.py ACTION.yml [INPUT=VALUE ...]: runs the steps of a composite action as a GitHub runner does: each script with
its environment in bash, with files for outputs and the summary in $RUNNER_TEMP. Steps that use another action are not run; their inputs
are printed instead. Exits like the first step that fails."""
import os
import re
import subprocess
import sys

import yaml

action = yaml.safe_load(open(sys.argv[1]))
values = {"inputs." + name: item.get("default", "") for name, item in action["inputs"].items()}
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    assert "inputs." + name in values, name
    values["inputs." + name] = value
for name, item in action["inputs"].items():
    assert "default" in item or values["inputs." + name], name + " is required"


def evaluate(expression):
    """Names, strings, ==, != and && of GitHub's expressions."""
    result = True
    for part in expression.split("&&"):
        terms = [term.strip() for term in re.split("[!=]=", part)]
        terms = [True if term == "always()" else term[1:-1] if term[0] == "'" else values.get(term, "") for term in terms]
        result = terms[0] if len(terms) == 1 else (terms[0] == terms[1]) == ("==" in part)
        if not result:
            return result
    return result


def expand(text):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(evaluate(match.group(1).strip())), str(text))


assert action["runs"]["using"] == "composite"
status = 0
for step in action["runs"]["steps"]:
    condition = step.get("if", "${{ true }}").strip()[3:-2].strip()
    if condition != "true" and not evaluate(condition):
        continue
    if status != 0 and "always()" not in condition:
        continue
    if "uses" in step:
        print("uses", step["uses"], " ".join(name + "=" + expand(value) for name, value in step["with"].items()))
        continue
    assert step["shell"] == "bash" and "${{" not in step["run"], "inputs must not become part of a script: " + step["name"]
    temporary = os.environ["RUNNER_TEMP"]
    files = {name: os.path.join(temporary, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    open(files["GITHUB_OUTPUT"], "w").close()
    environment = {**os.environ, **files, **{name: expand(value) for name, value in step.get("env", {}).items()}}
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=environment)
    status = status or done.returncode
    for line in open(files["GITHUB_OUTPUT"]):
        name, value = line.rstrip("\n").split("=", 1)
        values["steps.%s.outputs.%s" % (step["id"], name)] = value
for name, output in action["outputs"].items():
    print("output", name, expand(output["value"]))
sys.exit(status)
