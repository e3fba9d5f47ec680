"""The translations of the WMT17 systems that sacrebleu publishes with its tests, fetched once."""

import bz2
import hashlib
import io
import pickle
import sys
import tarfile
from pathlib import Path
from urllib.request import urlopen

import pytest

URL = "https://files.pythonhosted.org/packages/d3/ed/d7acddcff74d690c56fe26a1f7828bdde548262828d0743414ea916c40c1/sacrebleu-2.6.0.tar.gz"
SHA256 = "91499b6cd46138d95154fff1e863c2f9be57e82f0c719d8dd718d0006cf6c566"


class _PlainData(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


def wmt17_systems():
    """English to German: the translations of every system by its short name, and the references."""
    with tarfile.open(fileobj=io.BytesIO(_fetched())) as package:
        packed = package.extractfile("sacrebleu-2.6.0/test/wmt17_en_de_systems.pkl.bz2").read()
    *systems, (_, (references,)) = _PlainData(io.BytesIO(bz2.decompress(packed))).load()
    return {name.split(".")[1]: texts for name, texts in systems}, references


def _fetched():
    kept = Path(sys.prefix) / "test-data" / "sacrebleu-2.6.0.tar.gz"
    if not kept.exists():
        try:
            with urlopen(URL, timeout=60) as answer:
                content = answer.read()
        except OSError as error:
            pytest.skip(f"the package index cannot be reached: {error}")
        kept.parent.mkdir(exist_ok=True)
        partial = kept.with_suffix(f".{id(content)}")
        partial.write_bytes(content)
        partial.rename(kept)
    content = kept.read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256
    return content
