"""Values of other packages, and datasets: by content, independent of memory layout."""

from __future__ import annotations

import json
from typing import Any

from crucible_datasets.hashing.objects import walk_object
from crucible_datasets.hashing.walk import Walk, Walker


class _Sink:
    """A file that keeps only the digest of what is written to it."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self.write = digest.update

    def flush(self) -> None: ...

    def close(self) -> None: ...


def write_table(digest: Any, table: Any) -> None:
    """Feed the content of an Arrow table into a digest, without a second copy of it."""
    import pyarrow as pa

    with pa.ipc.new_stream(pa.PythonFile(_Sink(digest), mode="w"), table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 16)


def _walk_array(walk: Walk, array: Any) -> None:
    if type(array).__name__ not in ("ndarray", "memmap"):
        walk_object(walk, array)
        return
    walk.write("ndarray", f"{array.dtype} {array.shape}".encode())
    if array.dtype.hasobject or array.dtype.kind == "T":
        walk.feed(array.tolist())
    else:
        walk.write("values", array.tobytes() if not array.flags.c_contiguous else array.reshape(-1).view("u1").data)


def _walk_scalar(walk: Walk, scalar: Any) -> None:
    walk.write("scalar", str(scalar.dtype).encode())
    walk.write("value", scalar.tobytes())


def _walk_tensor(walk: Walk, tensor: Any) -> None:
    import torch

    walk.write("tensor", f"{tensor.dtype} {tuple(tensor.shape)}".encode())
    plain = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg().contiguous()
    walk.write("values", plain.reshape(-1).view(torch.uint8).numpy().data)


def _walk_torch_generator(walk: Walk, generator: Any) -> None:
    walk.write("generator", str(generator.device).encode())
    walk.feed(generator.get_state())


def _walk_table(walk: Walk, table: Any) -> None:
    walk.write("table", b"%d" % table.num_rows)
    write_table(walk.digest, table)


def _walk_batch(walk: Walk, batch: Any) -> None:
    import pyarrow as pa

    walk.write("batch")
    _walk_table(walk, pa.Table.from_batches([batch]))


def _walk_column(walk: Walk, column: Any) -> None:
    import pyarrow as pa

    walk.write(type(column).__name__)
    _walk_table(walk, pa.table({"": column}))


def _walk_arrow_scalar(walk: Walk, scalar: Any) -> None:
    import pyarrow as pa

    walk.write("scalar")
    _walk_column(walk, pa.array([scalar.as_py()], scalar.type))


def _walk_schema(walk: Walk, schema: Any) -> None:
    walk.write("schema", schema.serialize())


def _walk_field(walk: Walk, field: Any) -> None:
    import pyarrow as pa

    walk.write("field", pa.schema([field]).serialize())


def _walk_type(walk: Walk, kind: Any) -> None:
    import pyarrow as pa

    walk.write("type", pa.schema([pa.field("", kind)]).serialize())


def _walk_buffer(walk: Walk, buffer: Any) -> None:
    walk.write("buffer", memoryview(buffer).cast("B"))


def _walk_features(walk: Walk, features: Any) -> None:
    # As text, because the order of columns matters.
    walk.write("features", json.dumps(features.to_dict()).encode())


def _walk_fingerprint(walk: Walk, fingerprint: Any) -> None:
    walk.write("fingerprint", str(fingerprint).encode())


def _walk_dataset(walk: Walk, dataset: Any) -> None:
    walk.write("dataset", str(dataset._fingerprint).encode())
    shown = dataset._view.format
    if shown != type(shown)():  # the fingerprint covers what is stored, but a function gets formatted rows
        walk.feed_at("format", shown)


# By name, so that none of these packages needs to be imported.
BY_NAME: dict[str, Walker] = {
    "numpy.ndarray": _walk_array,
    "numpy.generic": _walk_scalar,
    "torch.Tensor": _walk_tensor,
    "torch._C.Generator": _walk_torch_generator,
    "pyarrow.lib.Table": _walk_table,
    "pyarrow.lib.RecordBatch": _walk_batch,
    "pyarrow.lib.ChunkedArray": _walk_column,
    "pyarrow.lib.Array": _walk_column,
    "pyarrow.lib.Scalar": _walk_arrow_scalar,
    "pyarrow.lib.Schema": _walk_schema,
    "pyarrow.lib.Field": _walk_field,
    "pyarrow.lib.DataType": _walk_type,
    "pyarrow.lib.Buffer": _walk_buffer,
    "crucible_datasets.features.features.Features": _walk_features,
    "crucible_datasets.fingerprint.Fingerprint": _walk_fingerprint,
    "crucible_datasets.arrow_dataset.Dataset": _walk_dataset,
}
