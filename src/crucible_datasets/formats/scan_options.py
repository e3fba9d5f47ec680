"""`fragment_scan_options` of Parquet, which are pyarrow's.

Most of them say how bytes are fetched ahead. Row groups are read in place here, ahead of whoever iterates, so those
have nothing to do. The others decide what can be read at all: they are refused rather than passed over.
"""

from __future__ import annotations

from typing import Any

from crucible_datasets.exceptions import ArgumentTypeError, UnavailableError
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)

_OF_PACE = ("buffer_size", "cache_options", "pre_buffer", "use_buffered_stream")
_OF_ROWS = (
    "decryption_properties",
    "page_checksum_verification",
    "parquet_decryption_config",
    "schema_depth_limit",
    "thrift_container_size_limit",
    "thrift_string_size_limit",
)


def refuse_what_decides_on_rows(options: Any) -> None:
    """An error for options that change what can be read, a word in the log for those that have no effect."""
    if options is None:
        return
    from pyarrow.dataset import ParquetFragmentScanOptions

    given, usual = _made(options), ParquetFragmentScanOptions()
    unlike = [name for name in (*_OF_PACE, *_OF_ROWS) if getattr(given, name, None) != getattr(usual, name, None)]
    if refused := [name for name in unlike if name in _OF_ROWS]:
        instead = "Read such files with pyarrow.dataset and make a Dataset of the table."
        raise UnavailableError(f"fragment_scan_options with {', '.join(refused)}", instead)
    if unlike:
        logger.warning("fragment_scan_options have no effect: %s. Row groups are read ahead anyway.", ", ".join(unlike))


def _made(options: Any) -> Any:
    from pyarrow.dataset import ParquetFragmentScanOptions

    if isinstance(options, ParquetFragmentScanOptions):
        return options
    try:
        return ParquetFragmentScanOptions(**options)
    except TypeError as error:
        wanted = f"expected pyarrow.dataset.ParquetFragmentScanOptions, or a dict of its arguments: {error}"
        raise ArgumentTypeError("fragment_scan_options", options, wanted) from error
