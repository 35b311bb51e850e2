"""run_notebook.py NOTEBOOK: runs it in its folder, and prints the text that its cells print or show."""

import os
import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], 4)
resources = {"metadata": {"path": os.path.dirname(os.path.abspath(sys.argv[1]))}}
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(output.get("text") or "\n".join(f"{kind}: {text[:200]}" for kind, text in output["data"].items()))
