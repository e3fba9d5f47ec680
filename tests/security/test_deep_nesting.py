"""Values nested within each other end no process: every parser of files from others is tried in a process of its own."""

import os
import subprocess
import sys

import pytest

DEPTHS = (500, 100_000)

# name → what makes the files and reads them; `deep(before, value, after)` is nested DEPTH times.
PARSERS = {
    "yaml lists in a card": ("write('README.md', '---\\na: ' + deep('[') + '\\n---\\n')", "load_dataset('.')"),
    "yaml closed lists in a card": (
        "write('README.md', '---\\na: ' + deep('[', '', ']') + '\\n---\\n')",
        "load_dataset('.')",
    ),
    "yaml mappings in a card": (
        "write('README.md', '---\\na: ' + deep('{a: ', '1', '}') + '\\n---\\n')",
        "load_dataset('.')",
    ),
    "yaml sequences by dashes": (
        "write('README.md', '---\\na:\\n ' + deep('- ', '1') + '\\n---\\n')",
        "load_dataset('.')",
    ),
    "yaml complex keys": ("write('README.md', '---\\n' + deep('? ', '1') + '\\n---\\n')", "load_dataset('.')"),
    "yaml features": (
        "write('README.md', '---\\ndataset_info:\\n  features:\\n  - name: a\\n    dtype: ' + deep('{list: ', 'int64', '}') + '\\n---\\n')",
        "load_dataset('.')",
    ),
    "yaml aliases of aliases": (
        "write('README.md', '---\\n' + 'a0: &a0 [1]\\n' + ''.join(f'a{n}: &a{n} [*a{n - 1}]\\n' for n in range(1, min(DEPTH, 20_000))) + '\\n---\\n')",
        "load_dataset('.')",
    ),
    "yaml of a repository": ("write('.huggingface.yaml', 'a: ' + deep('['))", "load_dataset('.')"),
    "yaml of a card that a push extends": (
        "",
        "from crucible_datasets.ops.pushing.card import _card; _card('---\\na: ' + deep('[', '', ']') + '\\n---\\n')",
    ),
    "yaml of a card that gets infos": (
        "write('README.md', '---\\na: ' + deep('[', '', ']') + '\\n---\\n')",
        "from crucible_datasets.info import DatasetInfosDict; DatasetInfosDict.from_directory('.'); DatasetInfosDict({'default': DatasetInfo()}).write_to_directory('.')",
    ),
    "json infos of a repository": ("write('dataset_infos.json', deep('['))", "load_dataset('.')"),
    "json infos with deep features": (
        'write(\'dataset_infos.json\', \'{"default": {"features": \' + deep(\'{"a": \', \'{"dtype": "int64", "_type": "Value"}\', \'}\') + \'}}\')',
        "load_dataset('.')",
    ),
    "json state of a saved dataset": (
        "Dataset.from_dict({'a': [1]}).save_to_disk('.'); write('state.json', deep('['))",
        "load_from_disk('.')",
    ),
    "json info of a saved dataset": (
        "Dataset.from_dict({'a': [1]}).save_to_disk('.'); write('dataset_info.json', '{\"features\": ' + deep('{\"a\": ', '{\"dtype\": \"int64\", \"_type\": \"Value\"}', '}') + '}')",
        "load_from_disk('.')",
    ),
    "json splits of a saved dataset": ("write('dataset_dict.json', deep('['))", "load_from_disk('.')"),
    "json lines": (
        "write('b.jsonl', '{\"a\": ' + deep('[', '', ']') + '}\\n')",
        "load_dataset('json', data_files='b.jsonl')",
    ),
    "json lines of objects": (
        "write('b.jsonl', deep('{\"a\": ', '1', '}') + '\\n')",
        "load_dataset('json', data_files='b.jsonl')",
    ),
    "streamed json lines": (
        "write('b.jsonl', deep('{\"a\": ', '1', '}') + '\\n')",
        "list(load_dataset('json', data_files='b.jsonl', streaming=True, split='train'))",
    ),
    "json lines with features": (
        "write('b.jsonl', '{\"a\": ' + deep('[', '', ']') + '}\\n')",
        "load_dataset('json', data_files='b.jsonl', features=Features(a=Value('string')))",
    ),
    "a json array": (
        "write('b.json', '[' + deep('{\"a\": ', '1', '}') + ']')",
        "load_dataset('json', data_files='b.json')",
    ),
    "json that is no object": ("write('b.json', deep('['))", "load_dataset('json', data_files='b.json')"),
    "a field of json": (
        "write('b.json', '{\"data\": ' + deep('[') + '}')",
        "load_dataset('json', data_files='b.json', field='data')",
    ),
    "json in a column of json": (
        "",
        "Dataset.from_dict({'a': [deep('[', '', ']')]}).cast_column('a', Json())[0]",
    ),
    "metadata of a folder of images": (
        "os.mkdir('i'); open('i/a.png', 'wb').write(b'x'); write('i/metadata.jsonl', '{\"file_name\": \"a.png\", \"b\": ' + deep('[', '', ']') + '}\\n')",
        "load_dataset('imagefolder', data_dir='i')",
    ),
    "json in tar shards": (
        "tar(json='{\"a\": ' + deep('[', '', ']') + '}')",
        "load_dataset('webdataset', data_files='a.tar')",
    ),
    "the head of an array in tar shards": (
        "head = \"{'descr': \" + deep('(', '', ',)') + \", 'fortran_order': False, 'shape': (1,), }\"; tar(npy=b'\\x93NUMPY\\x02\\x00' + len(head).to_bytes(4, 'little') + head.encode() + b'12345678')",
        "load_dataset('webdataset', data_files='a.tar', split='train')[0]",
    ),
    "msgpack in tar shards": (
        "tar(mp=b'\\x91' * DEPTH + b'\\x01')",
        "load_dataset('webdataset', data_files='a.tar', split='train')[0]",
    ),
    "cbor in tar shards": (
        "tar(cbor=b'\\x81' * DEPTH + b'\\x01')",
        "load_dataset('webdataset', data_files='a.tar', split='train')[0]",
    ),
    "a log of inspect": (
        "zipped('b.eval', {'samples/1_epoch_1.json': '{\"a\": ' + deep('[', '', ']') + '}'})",
        "load_dataset('eval', data_files='b.eval')",
    ),
    "elements of xml": ("write('b.xml', deep('<a>', 'x', '</a>'))", "load_dataset('xml', data_files='b.xml')"),
    "rows of xml": (
        "write('b.xml', '<r><a>' + deep('<b>', 'x', '</b>') + '</a></r>')",
        "load_dataset('xml', data_files='b.xml', split='train')[0]",
    ),
    "features in the schema of Arrow": (
        'arrow({\'huggingface\': \'{"info": {"features": {"a": \' + deep(\'{"feature": \', \'{"dtype": "int64", "_type": "Value"}\', \', "_type": "List"}\') + \'}}}\'})',
        "load_dataset('arrow', data_files='b.arrow')",
    ),
    "unclosed features in the schema of Arrow": (
        "arrow({'huggingface': deep('[')})",
        "load_dataset('arrow', data_files='b.arrow')",
    ),
    "features in the schema of Parquet": (
        'parquet({\'huggingface\': \'{"info": {"features": {"a": \' + deep(\'{"b": \', \'{"dtype": "int64", "_type": "Value"}\', \'}\') + \'}}}\'})',
        "load_dataset('parquet', data_files='b.parquet')",
    ),
    "types of Arrow": ("nested_arrow()", "load_dataset('arrow', data_files='b.arrow')"),
    "structs of Arrow": ("nested_arrow(struct=True)", "load_dataset('arrow', data_files='b.arrow')"),
    "types of Parquet": ("nested_parquet()", "load_dataset('parquet', data_files='b.parquet')"),
    "features from a dict": (
        "",
        "feature = {'dtype': 'int64', '_type': 'Value'}\nfor _ in range(DEPTH): feature = {'a': feature}\nFeatures.from_dict(feature)",
    ),
    "toml of a benchmark": (
        "write('b.toml', 'a = ' + deep('[', '', ']'))",
        "os.environ['CRUCIBLE_BENCHMARKS'] = config.CRUCIBLE_BENCHMARKS = os.getcwd(); from crucible_datasets import benchmarks; benchmarks.load_benchmark('b')",
    ),
    "toml of a lock file": (
        "write('b.lock', 'version = 1\\na = ' + deep('[', '', ']'))",
        "from crucible_datasets.benchmarks.locks.file import Lock; Lock.read('b.lock')",
    ),
    "predictions": (
        "write('b.jsonl', deep('{\"a\": ', '1', '}') + '\\n')",
        "from crucible_datasets.evaluation.predictions import files; list(files.read_predictions('b.jsonl'))",
    ),
    "braces of a pattern": (
        "write('README.md', '---\\nconfigs:\\n- config_name: a\\n  data_files: \"' + deep('{a,', 'b', '}') + '\"\\n---\\n')",
        "load_dataset('.')",
    ),
    "brackets of a pattern": (
        "write('README.md', '---\\nconfigs:\\n- config_name: a\\n  data_files: \"' + deep('[') + '\"\\n---\\n')",
        "load_dataset('.')",
    ),
    "folders of a pattern": (
        "write('README.md', '---\\nconfigs:\\n- config_name: a\\n  data_files: \"' + deep('**/') + '*.csv\"\\n---\\n')",
        "load_dataset('.')",
    ),
    "sql of a filter": ("", "Dataset.from_dict({'a': [1]}).filter(deep('(', 'a', ')') + ' > 0')"),
}

PRELUDE = """
import io, json, os, resource, sys, tarfile, zipfile
DEPTH = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

def deep(before, value="", after=""):
    return before * DEPTH + value + after * DEPTH

def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

def tar(**members):
    with tarfile.open("a.tar", "w") as archive:
        for kind, content in members.items():
            content = content if isinstance(content, bytes) else content.encode()
            info = tarfile.TarInfo(f"one.{kind}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))

def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)

def arrow(metadata):
    table = pa.table({"a": [1]}).replace_schema_metadata(metadata)
    with pa.OSFile("b.arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)

def parquet(metadata):
    import pyarrow.parquet
    pa.parquet.write_table(pa.table({"a": [1]}).replace_schema_metadata(metadata), "b.parquet")

def nested_type(struct=False):
    kind = pa.int64()
    for _ in range(min(DEPTH, 2000)):  # Arrow itself cannot make deeper ones
        kind = pa.struct([("a", kind)]) if struct else pa.list_(kind)
    return kind

def nested_arrow(struct=False):
    schema = pa.schema([("a", nested_type(struct))])
    with pa.OSFile("b.arrow", "wb") as sink:
        sink.write(schema.serialize())

def nested_parquet():
    import pyarrow.parquet
    pa.parquet.write_table(pa.schema([("a", nested_type())]).empty_table(), "b.parquet")

import pyarrow as pa
from crucible_datasets import Dataset, DatasetInfo, Features, Json, Value, config, load_dataset, load_from_disk
from crucible_datasets.exceptions import DatasetsError
write("a.csv", "x\\n1\\n")
"""


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", PARSERS)
def test_deep_values_are_read_or_refused(name, depth, tmp_path):
    made, read = PARSERS[name]
    body = "\n".join(f"    {line}" for line in read.split("\n"))
    program = f"{PRELUDE}\n{made}\nprint('made')\ntry:\n{body}\nexcept DatasetsError as error:\n    print('refused', repr(error)[:300])\nelse:\n    print('read')\n"
    script = tmp_path / "attack.py"
    script.write_text(program, encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(script), str(depth)],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-1500:])
    assert done.stdout.splitlines()[-1].startswith(("read", "refused"))
