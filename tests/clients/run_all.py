"""Run programs one after another in this process, each in an empty folder of its own, and print what each of them printed.

The answer is one JSON object: the library that the programs got as `datasets`, and the output of each of them by its name.
One process for many programs, since importing the libraries they use takes longer than all of them run.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path


def printed(program: Path) -> str:
    """What a program prints, and the error that ends it, if one does."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        try:
            runpy.run_path(str(program), run_name="__main__")
        except Exception:
            out.write(traceback.format_exc())
    return out.getvalue()


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    # What worker processes and compiled code print is no answer of a program.
    os.dup2(2, 1)
    outputs = {f"{program.parent.name}/{program.stem}": printed(program) for program in map(Path, sys.argv[1:])}
    library = sys.modules["datasets"].Dataset.__module__.partition(".")[0] if "datasets" in sys.modules else None
    json.dump({"library": library, "outputs": outputs}, answer)
    answer.close()


if __name__ == "__main__":
    main()
