"""Arrow files that somebody else's program writes by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import pyarrow as pa

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features

__all__ = ["ArrowWriter", "OptimizedTypedSequence", "ParquetWriter", "SchemaInferenceError", "TypedSequence"]


class SchemaInferenceError(ValueError):
    """Nothing was written, so nothing is known of the columns."""


class ArrowWriter:
    """Writes rows, batches and tables to an Arrow stream, in blocks; the first decides features that are not given."""

    def __init__(
        self,
        schema: pa.Schema | None = None,
        features: Features | None = None,
        path: str | None = None,
        stream: Any = None,
        fingerprint: str | None = None,
        writer_batch_size: int | None = None,
        disable_nullable: bool = False,
        update_features: bool = False,
        on_mixed_types: Literal["use_json"] | None = "use_json",
        with_metadata: bool = True,
        unit: str = "examples",
        embed_local_files: bool = False,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        if (path is None) == (stream is None):
            raise ArgumentError("path", path, "give either a path or a stream.")
        self._features = Features.from_arrow_schema(schema) if features is None and schema is not None else features
        self._path, self._options, self._owned = path, storage_options, stream is None
        self.stream = self._opened(path, storage_options) if stream is None else stream
        self.writer_batch_size = writer_batch_size or 1000
        self._mixed, self._metadata = on_mixed_types, with_metadata
        self._rows: list[dict[str, Any]] = []
        self.pa_writer: Any = None
        self._num_examples = self._num_bytes = 0

    @staticmethod
    def _opened(path: Any, storage_options: dict[str, Any] | None) -> Any:
        import fsspec

        filesystem, inside = fsspec.url_to_fs(str(path), **(storage_options or {}))
        return filesystem.open(inside, "wb")

    def __len__(self) -> int:
        return self._num_examples + len(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def schema(self) -> pa.Schema | None:
        """The types of the columns, once they are known."""
        return None if self._features is None else self._features.arrow_schema

    def write(self, example: dict[str, Any], writer_batch_size: int | None = None) -> None:
        """Write a row."""
        self._rows.append(example)
        if len(self._rows) >= (writer_batch_size or self.writer_batch_size):
            self.write_examples_on_file()

    def write_row(self, row: pa.Table, writer_batch_size: int | None = None) -> None:
        """Write a row that is a table."""
        self.write_table(row)

    def write_batch(
        self,
        batch_examples: dict[str, Any],
        writer_batch_size: int | None = None,
        try_original_type: bool | None = True,
    ) -> None:
        """Write columns of rows."""
        self.write_examples_on_file()
        if any(len(values) for values in batch_examples.values()):
            self._write(Dataset.from_dict(batch_examples, features=self._features, on_mixed_types=self._mixed))

    def write_table(self, pa_table: pa.Table, writer_batch_size: int | None = None) -> None:
        """Write the rows of a table."""
        self.write_examples_on_file()
        rows = Dataset(pa_table)
        self._write(rows if self._features is None else rows.select_columns(list(self._features)).cast(self._features))

    def write_examples_on_file(self) -> None:
        """Write the rows that were kept back."""
        rows, self._rows = self._rows, []
        if rows:
            columns = {
                name: [row.get(name) for row in rows] for name in dict.fromkeys(key for row in rows for key in row)
            }
            self._write(Dataset.from_dict(columns, features=self._features, on_mixed_types=self._mixed))

    def _write(self, rows: Dataset) -> None:
        self._begin(rows.features)
        table: Any = rows.with_format("arrow")[:]
        self.pa_writer.write_table(table if self._metadata else table.replace_schema_metadata(None))
        self._num_examples += table.num_rows
        self._num_bytes += table.nbytes

    def _begin(self, features: Features) -> None:
        if self.pa_writer is None:
            self._features = features
            schema = features.arrow_schema
            self.pa_writer = self._writer(schema if self._metadata else schema.remove_metadata())

    def _writer(self, schema: pa.Schema) -> Any:
        return pa.ipc.new_stream(self.stream, schema)

    def finalize(self, close_stream: bool = True) -> tuple[int, int]:
        """Finish the file; how many rows and bytes were written."""
        self.write_examples_on_file()
        if self.pa_writer is None:
            if self._features is None:
                self._close_stream(close_stream)
                raise SchemaInferenceError("Give features, or write a row: nothing is known of the columns.")
            self._begin(self._features)
        self._finish()
        self._close_stream(close_stream)
        return self._num_examples, self._num_bytes

    def _finish(self) -> None:
        if self.pa_writer is not None:
            self.pa_writer.close()
            self.pa_writer = None

    def _close_stream(self, wanted: bool = True) -> None:
        if wanted and self._owned:
            self.stream.close()

    def close(self) -> None:
        """Let go of the file."""
        self._finish()
        self._close_stream()


class ParquetWriter(ArrowWriter):
    """The same for Parquet."""

    def _writer(self, schema: pa.Schema) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self.stream, schema)


class TypedSequence:
    """Values, and the feature that they shall have, or have if they can."""

    _column = "_"

    def __init__(
        self, data: Iterable[Any], type: Any = None, try_type: Any = None, optimized_int_type: Any = None
    ) -> None:
        if type is not None and try_type is not None:
            raise ValueError("Give a type, or a type to try, not both.")
        self.data, self.type, self.try_type, self.optimized_int_type = data, type, try_type, optimized_int_type

    def get_inferred_type(self) -> Any:
        """The feature of the values."""
        return self._rows().features[self._column]

    def _rows(self) -> Dataset:
        if self.type is not None:
            return self._rows_of(self.type)
        try:
            return self._rows_of(self.try_type)
        except (ValueError, TypeError, pa.ArrowException):
            return self._rows_of(None)

    def _rows_of(self, feature: Any) -> Dataset:
        return Dataset.from_dict(
            {self._column: self.data}, None if feature is None else Features({self._column: feature})
        )

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        if type is not None:
            raise ValueError("The type is told when the sequence is made: pa.array(sequence).")
        table: Any = self._rows().with_format("arrow")[:]
        return table.column(0).combine_chunks()


class OptimizedTypedSequence(TypedSequence):
    """The same; columns that tokenizers make are small integers, by the name that they have."""

    def __init__(
        self, data: Any, type: Any = None, try_type: Any = None, col: str | None = None, optimized_int_type: Any = None
    ) -> None:
        super().__init__(data, type, try_type, optimized_int_type)
        self._column = col or "_"
