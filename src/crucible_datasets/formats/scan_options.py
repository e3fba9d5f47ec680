"""`fragment_scan_options` of Parquet, an object of pyarrow.

Most of these options control prefetching. Row groups are always read in place and in advance here, so those options
have no effect. The others change which files can be read; they raise an error rather than being ignored.
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


def require_no_effect(options: Any) -> None:
    """Raise for options that change what can be read; log those that have no effect."""
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
