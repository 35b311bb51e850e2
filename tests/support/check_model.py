#!/usr/bin/env python3
"""Checks models with the onnx package: python3 tests/support/check_model.py MODEL...

Exits with 0 when all are valid, 1 when one is not, and 77 when this package cannot check them: it is not installed, or older
than the model.
"""

import sys

try:
    import onnx
    from onnx import defs
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def too_new(model):
    """Why the installed package cannot check a model, or None."""
    if model.ir_version > onnx.IR_VERSION:
        return f"IR version {model.ir_version}, and onnx {onnx.__version__} knows {onnx.IR_VERSION}"
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > defs.onnx_opset_version():
            return f"opset {opset.version}, and onnx {onnx.__version__} knows {defs.onnx_opset_version()}"
    return None


def main():
    unsure = False
    for path in sys.argv[1:]:
        reason = too_new(onnx.load(path, load_external_data=False))
        if reason:
            print(f"skipped: {path}: {reason}")
            unsure = True
            continue
        with open(path, "rb") as file:
            original = file.read()
        try:
            onnx.checker.check_model(path, full_check=True)
        except Exception as error:  # the checker throws several kinds
            print(f"{path}: {error}")
            return 1
        finally:  # some versions write inferred types into the file
            with open(path, "rb") as file:
                changed = file.read() != original
            if changed:
                with open(path, "wb") as file:
                    file.write(original)
    return 77 if unsure else 0


if __name__ == "__main__":
    sys.exit(main())
