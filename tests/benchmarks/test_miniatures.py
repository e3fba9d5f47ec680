"""Miniatures are the same on every machine, and small."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zlib

from crucible_datasets.benchmarks import Catalog, write_miniatures
from crucible_datasets.benchmarks.miniatures.base import VERSION, Draw, makers
from crucible_datasets.benchmarks.miniatures.texts import png

# Digests of the rows. When one changes on purpose, VERSION must change too: scores name it. A new dataset adds a line.
KNOWN = {
    1: {
        "Anthropic/hh-rlhf": "d6d9ac96",
        "EleutherAI/hendrycks_math": "5799fd4c",
        "HuggingFaceH4/MATH-500": "db76f594",
        "HuggingFaceH4/aime_2024": "a2e5caa9",
        "HuggingFaceH4/no_robots": "59af0c10",
        "Idavidrein/gpqa": "311ec8d0",
        "POLARIS-Project/Polaris-Dataset-53K": "ac7f0606",
        "Rowan/hellaswag": "689f646b",
        "TIGER-Lab/MMLU-Pro": "e54946c6",
        "agentica-org/DeepCoder-Preview-Dataset": "c23a047f",
        "allenai/ai2_arc": "f2f5881d",
        "allenai/llama-3.1-tulu-3-8b-preference-mixture": "d912b231",
        "allenai/tulu-3-sft-mixture": "a6e8cc2b",
        "allenai/winogrande": "9196c091",
        "argilla/ultrafeedback-binarized-preferences": "4a862284",
        "cais/mmlu": "d740c96e",
        "dpdl-benchmark/caltech101": "66e9472d",
        "dpdl-benchmark/oxford_flowers102": "f6854077",
        "dpdl-benchmark/oxford_iiit_pet": "77b8fac4",
        "google-research-datasets/mbpp": "7e1f5b03",
        "google/IFEval": "fb95fa5c",
        "lmarena-ai/arena-human-preference-140k": "5e66c9ce",
        "lukaemon/bbh": "890bdeae",
        "madrylab/gsm8k-platinum": "4aaf142a",
        "nvidia/HelpSteer2": "d24c301a",
        "nvidia/HelpSteer3": "45a456a6",
        "open-thoughts/OpenThoughts3-1.2M": "ef6a95c7",
        "openai/gsm8k": "f0b9eb95",
        "openai/openai_humaneval": "2a112f16",
        "prometheus-eval/Feedback-Collection": "7d4977b2",
        "rajpurkar/squad": "444ca6cd",
        "tanganke/stanford_cars": "866a4996",
        "truthfulqa/truthful_qa": "4435c964",
        "ucinlp/drop": "086751be",
        "zwhe99/DeepMath-103K": "b5460a58",
    }
}
_DIGESTS = """
import hashlib, json, sys
sys.modules["PIL"] = None
from crucible_datasets.benchmarks import load_benchmark
for streaming in (False, True):
    assert len(list(load_benchmark("caltech101", synthetic=True, streaming=streaming))) == 16
from crucible_datasets.benchmarks.miniatures.base import makers
def digest(source, made):
    rows = [made.made(config, split) for config in CONFIGS[source] for split in ("train", "test")]
    return hashlib.sha256(json.dumps(rows, sort_keys=True, default=repr).encode()).hexdigest()[:8]
print(json.dumps({source: digest(source, made) for source, made in makers().items()}))
"""


def configs():
    found = {}
    for entry in Catalog().values():
        found.setdefault(entry.source, set()).update(entry.config_names[:3] or [""])
    return {source: sorted(names) for source, names in found.items()}


def digests_in_another_process(**environment):
    code = f"CONFIGS = {configs()!r}\n{_DIGESTS}"
    env = {**os.environ, **environment}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_rows_are_the_same_in_every_process_and_change_with_their_version_only():
    """Pillow is not there: pictures are made and loaded without it."""
    assert digests_in_another_process(PYTHONHASHSEED="7") == KNOWN[VERSION]


def test_every_dataset_of_the_registry_has_a_maker_and_every_maker_a_dataset():
    assert set(makers()) == {entry.source for entry in Catalog().values()}


def test_splits_differ():
    for entry in Catalog().values():
        made, config = makers()[entry.source], next(iter(entry.config_names), "")
        rows = [json.dumps(made.made(config, split), default=repr) for split in entry.splits_of(config)]
        assert len(set(rows)) == len(rows), entry.name


def test_a_draw_depends_on_its_name_only():
    first, second, other = Draw("a"), Draw("a"), Draw("b")
    drawn = [first.number(0, 10**6) for _ in range(5)]
    assert drawn == [second.number(0, 10**6) for _ in range(5)] != [other.number(0, 10**6) for _ in range(5)]
    assert sorted(Draw("c").some("abcdef", 6)) == list("abcdef")
    assert {Draw(f"d{n}").number(2, 4) for n in range(100)} == {2, 3, 4}


def test_a_picture_is_a_whole_png():
    made, place, kinds = png((1, 2, 3), 9), 8, []
    while place < len(made):
        size = int.from_bytes(made[place : place + 4], "big")
        kind, data = made[place + 4 : place + 8], made[place + 8 : place + 8 + size]
        assert zlib.crc32(kind + data) == int.from_bytes(made[place + 8 + size : place + 12 + size], "big")
        kinds.append(kind)
        place += 12 + size
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]


def test_repositories_are_written_alike_twice_and_are_small(tmp_path):
    names = ["gsm8k", "hh_rlhf", "oxford_iiit_pet", "math_500", "feedback_collection"]
    assert write_miniatures(tmp_path / "one", names) == [Catalog()[name].source for name in names]
    write_miniatures(tmp_path / "two", names)
    first, second = (contents(tmp_path / place) for place in ("one", "two"))
    assert first == second and len(first) == 5 + 4 + 2 + 2 + 1 + 1
    assert sum(size for _, size in first.values()) < 200_000


def contents(folder):
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {
        str(file.relative_to(folder)): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_size)
        for file in files
    }


def test_cards_name_every_file(tmp_path):
    write_miniatures(tmp_path, ["deepcoder"])
    folder = tmp_path / "agentica-org" / "DeepCoder-Preview-Dataset"
    card = (folder / "README.md").read_text()
    data = [str(file.relative_to(folder)) for file in folder.rglob("*.parquet")]
    assert len(data) == 5 and all(f"path: {file}" in card for file in data)
    assert "made up by Crucible Datasets" in card
