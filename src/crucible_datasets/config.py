"""Settings: module attributes that users read and set, filled from the environment at import.

Values that need an import or a search (which packages are installed, and their versions) are computed on first access.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from pathlib import Path
from typing import Any

ENV_VARS_TRUE_VALUES = {"1", "ON", "YES", "TRUE"}
ENV_VARS_TRUE_AND_AUTO_VALUES = ENV_VARS_TRUE_VALUES | {"AUTO"}
ENV_VARS_FALSE_VALUES = {"0", "OFF", "NO", "FALSE"}
ENV_VARS_FALSE_AND_AUTO_VALUES = ENV_VARS_FALSE_VALUES | {"AUTO"}


def _switch(name: str, default: str, on: set[str] = ENV_VARS_TRUE_VALUES) -> bool:
    return os.environ.get(name, default).upper() in on


def is_offline() -> bool:
    """Whether the network is forbidden: by the setting, or by its variables, if these were changed since the import."""
    return HF_HUB_OFFLINE if offline_variables() == _OFFLINE_VARIABLES else _is_said_offline()


def offline_variables() -> tuple[str | None, ...]:
    """The environment variables that forbid the network, the stronger one first."""
    return tuple(map(os.environ.get, ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE")))


def _is_said_offline() -> bool:
    return _switch("HF_DATASETS_OFFLINE", os.environ.get("HF_HUB_OFFLINE", "0"))


def _folder(name: str, default: str | Path) -> Path:
    return Path(os.environ.get(name, default)).expanduser()


def _memory() -> int:
    """The memory of this machine or container in bytes; 8 GiB if unknown."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = 8 << 30
    try:
        container = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        container = "max"
    return min(machine, int(container)) if container.isdigit() else machine


# Hub
HF_ENDPOINT = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
HUB_DATASETS_URL = HF_ENDPOINT + "/datasets/{repo_id}/resolve/{revision}/{path}"
HUB_DATASETS_HFFS_URL = "hf://datasets/{repo_id}@{revision}/{path}"
HUB_DEFAULT_VERSION = "main"
HF_DATASETS_OFFLINE = _is_said_offline()
HF_HUB_OFFLINE = HF_DATASETS_OFFLINE
_OFFLINE_VARIABLES = offline_variables()  # as they were when the settings were made of them
# Seconds for which a Hub that is written to may say nothing before it is asked again.
CRUCIBLE_HUB_SILENCE = float(os.environ.get("CRUCIBLE_HUB_SILENCE", 60))
HF_UPDATE_DOWNLOAD_COUNTS = _switch("HF_UPDATE_DOWNLOAD_COUNTS", "AUTO", ENV_VARS_TRUE_AND_AUTO_VALUES)
USE_PARQUET_EXPORT = True
UPLOADS_MAX_NUMBER_PER_COMMIT = 50

# Folders
DEFAULT_XDG_CACHE_HOME = "~/.cache"
XDG_CACHE_HOME = os.environ.get("XDG_CACHE_HOME", DEFAULT_XDG_CACHE_HOME)
DEFAULT_HF_CACHE_HOME = os.path.join(XDG_CACHE_HOME, "huggingface")
HF_CACHE_HOME = os.path.expanduser(os.environ.get("HF_HOME", DEFAULT_HF_CACHE_HOME))
DEFAULT_HF_DATASETS_CACHE = os.path.join(HF_CACHE_HOME, "datasets")
HF_DATASETS_CACHE = _folder("HF_DATASETS_CACHE", DEFAULT_HF_DATASETS_CACHE)
# A size such as 50GB, or a percentage of the disk; beyond it the least recently used entries are removed.
CRUCIBLE_CACHE_LIMIT = os.environ.get("CRUCIBLE_CACHE_LIMIT", "20%")
# Folders of TOML files that describe benchmarks, separated like PATH.
CRUCIBLE_BENCHMARKS = os.environ.get("CRUCIBLE_BENCHMARKS", "")
# Whether entries of the cache that belong to other users are used. Those of root always are.
SHARED_CACHE = _switch("CRUCIBLE_SHARED_CACHE", "0")
# The lock file under which benchmarks and samples are loaded; empty for none.
CRUCIBLE_LOCK = os.environ.get("CRUCIBLE_LOCK", "")
# Whether benchmarks are loaded at their pinned commits, which a mirror of the Hub may not have.
CRUCIBLE_PINS = _switch("CRUCIBLE_PINS", "1")
# Where `ResultStore()` keeps runs. They are never removed automatically.
CRUCIBLE_RESULTS_DIR = _folder("CRUCIBLE_RESULTS_DIR", "~/.crucible/results")
DEFAULT_HF_MODULES_CACHE = os.path.join(HF_CACHE_HOME, "modules")
HF_MODULES_CACHE = _folder("HF_MODULES_CACHE", DEFAULT_HF_MODULES_CACHE)
DOWNLOADED_DATASETS_DIR = "downloads"
DEFAULT_DOWNLOADED_DATASETS_PATH = os.path.join(HF_DATASETS_CACHE, DOWNLOADED_DATASETS_DIR)
DOWNLOADED_DATASETS_PATH = _folder("HF_DATASETS_DOWNLOADED_DATASETS_PATH", DEFAULT_DOWNLOADED_DATASETS_PATH)
EXTRACTED_DATASETS_DIR = "extracted"
DEFAULT_EXTRACTED_DATASETS_PATH = os.path.join(DEFAULT_DOWNLOADED_DATASETS_PATH, EXTRACTED_DATASETS_DIR)
EXTRACTED_DATASETS_PATH = _folder("HF_DATASETS_EXTRACTED_DATASETS_PATH", DEFAULT_EXTRACTED_DATASETS_PATH)
TEMP_CACHE_DIR_PREFIX = "hf_datasets-"

# File names
DATASET_ARROW_FILENAME = "dataset.arrow"
DATASET_INDICES_FILENAME = "indices.arrow"
DATASET_STATE_JSON_FILENAME = "state.json"
DATASET_INFO_FILENAME = "dataset_info.json"
DATASETDICT_INFOS_FILENAME = "dataset_infos.json"
DATASETDICT_JSON_FILENAME = "dataset_dict.json"
LICENSE_FILENAME = "LICENSE"
REPOCARD_FILENAME = "README.md"
REPOYAML_FILENAME = ".huggingface.yaml"
METADATA_CONFIGS_FIELD = "configs"
MAX_DATASET_CONFIG_ID_READABLE_LENGTH = 255

# Sizes
DEFAULT_MAX_BATCH_SIZE = 1000
MAX_SHARD_SIZE = "500MB"
MAX_ROW_GROUP_SIZE = "100MB"
DEFAULT_CDC_OPTIONS = {"min_chunk_size": 256 * 1024, "max_chunk_size": 1024 * 1024, "norm_level": 0}
DEFAULT_IN_MEMORY_MAX_SIZE = 0
IN_MEMORY_MAX_SIZE = float(os.environ.get("HF_DATASETS_IN_MEMORY_MAX_SIZE", DEFAULT_IN_MEMORY_MAX_SIZE))
ARROW_READER_BATCH_SIZE_IN_DATASET_ITER = 10
ARROW_RECORD_BATCH_SIZE_FOR_AUDIO_DATASETS = 100
ARROW_RECORD_BATCH_SIZE_FOR_IMAGE_DATASETS = 100
ARROW_RECORD_BATCH_SIZE_FOR_BINARY_DATASETS = 100
ARROW_RECORD_BATCH_SIZE_FOR_VIDEO_DATASETS = 10
PARQUET_ROW_GROUP_SIZE_FOR_AUDIO_DATASETS: int | None = None
PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS: int | None = None
PARQUET_ROW_GROUP_SIZE_FOR_BINARY_DATASETS: int | None = None
PARQUET_ROW_GROUP_SIZE_FOR_VIDEO_DATASETS: int | None = None
SAVE_ORIGINAL_SHARD_LENGTHS = False
ARCHIVES_MAX_NUMBER_FOR_MODULE_INFERENCE = 10
# Limits against decompression bombs: the expansion ratio, and a size up to which any ratio is allowed.
MAX_UNPACKED_RATIO = 250
MAX_UNPACKED_BYTES_AT_ANY_RATIO = 256 << 20
MAX_ARCHIVE_MEMBERS = 1_000_000
MAX_MEMBER_BYTES = 1 << 30  # the largest member of a tar shard that is read into memory
MAX_CARD_VALUES = 1_000_000
# Memory for decoded row groups of Parquet files; more is spilled to disk.
DECODED_MEMORY_BUDGET = int(os.environ.get("CRUCIBLE_MEMORY_BUDGET", 0)) or _memory() // 4
# What one filter, query or search of the viewer may take.
VIEWER_QUERY_SECONDS = float(os.environ.get("CRUCIBLE_VIEWER_QUERY_SECONDS", 60))
# What a small row group may decode to. A large one may expand 64-fold.
MAX_DECODED_BYTES = int(os.environ.get("CRUCIBLE_MAX_DECODED_BYTES", 1 << 30))
# Foreign Arrow files up to this size are fully validated before use.
MAX_VALIDATED_BYTES = int(os.environ.get("CRUCIBLE_MAX_VALIDATED_BYTES", 16 << 20))
# Additional folders into which media paths in datasets may point; "*" for anywhere.
CRUCIBLE_MEDIA_ROOTS = os.environ.get("CRUCIBLE_MEDIA_ROOTS", "")
# Decoders other than the default, by type of media: "Audio=pyav,Image=mine".
CRUCIBLE_MEDIA_DECODERS = os.environ.get("CRUCIBLE_MEDIA_DECODERS", "")
# The memory that one decoded media value may take.
MAX_MEDIA_BYTES = int(os.environ.get("CRUCIBLE_MAX_MEDIA_BYTES", 4 << 30))
# Threads that decode the media of a batch; 0 means one per processor, at most 8, and one in worker processes.
CRUCIBLE_DECODE_THREADS = int(os.environ.get("CRUCIBLE_DECODE_THREADS", 0))
# Parquet on the Hub larger than this is downloaded in the background while its first rows are read.
CRUCIBLE_BACKGROUND_DOWNLOADS = int(os.environ.get("CRUCIBLE_BACKGROUND_DOWNLOADS", 64 << 20))
# The default executor of users' functions: "serial", "processes", "ray".
CRUCIBLE_EXECUTOR = os.environ.get("CRUCIBLE_EXECUTOR", "")
SPILL_FOLDER: Path | None = _folder("CRUCIBLE_SPILL_FOLDER", "") if "CRUCIBLE_SPILL_FOLDER" in os.environ else None

# Running
MAX_NUM_RUNNING_ASYNC_MAP_FUNCTIONS_IN_PARALLEL = 1000
HF_DATASETS_MULTITHREADING_MAX_WORKERS = 16
STREAMING_READ_MAX_RETRIES = 20
# Batches that a thread prefetches from the files of a stream; 0 disables prefetching.
STREAMING_PREFETCH_BATCHES = int(os.environ.get("CRUCIBLE_STREAMING_PREFETCH_BATCHES", 2))
# Bytes of such batches in the whole process, beyond which no thread holds more than one.
STREAMING_PREFETCH_BYTES = int(os.environ.get("CRUCIBLE_STREAMING_PREFETCH_BYTES", 64 << 20))
STREAMING_READ_RETRY_INTERVAL = 5
STREAMING_READ_RATE_LIMIT_RETRY_INTERVAL = 60
STREAMING_READ_SERVER_UNAVAILABLE_RETRY_INTERVAL = 20
STREAMING_OPEN_MAX_RETRIES = 20
STREAMING_OPEN_RETRY_INTERVAL = 5
PBAR_REFRESH_TIME_INTERVAL = 0.05
HF_DATASETS_DISABLE_PROGRESS_BARS: bool | None = (
    _switch("HF_DATASETS_DISABLE_PROGRESS_BARS", "") if "HF_DATASETS_DISABLE_PROGRESS_BARS" in os.environ else None
)

# Media
IS_OPUS_SUPPORTED = True
IS_MP3_SUPPORTED = True

# Frameworks
USE_TF = os.environ.get("USE_TF", "AUTO").upper()
USE_TORCH = os.environ.get("USE_TORCH", "AUTO").upper()
USE_JAX = os.environ.get("USE_JAX", "AUTO").upper()

_PACKAGES = {
    "BIOPYTHON": "Bio",
    "DUCKDB": "duckdb",
    "JAX": "jax",
    "LZ4": "lz4",
    "NIBABEL": "nibabel",
    "PDFPLUMBER": "pdfplumber",
    "PIL": "PIL",
    "POLARS": "polars",
    "PY7ZR": "py7zr",
    "RARFILE": "rarfile",
    "SQLALCHEMY": "sqlalchemy",
    "TEICH": "teich",
    "TF": "tensorflow",
    "TORCH": "torch",
    "TORCHCODEC": "torchcodec",
    "TORCHVISION": "torchvision",
    "TRIMESH": "trimesh",
    "ZSTANDARD": "zstandard",
}
_DISTRIBUTIONS = {
    "DILL": "dill",
    "DUCKDB": "duckdb",
    "FSSPEC": "fsspec",
    "HF_HUB": "huggingface_hub",
    "JAX": "jax",
    "PANDAS": "pandas",
    "POLARS": "polars",
    "PYARROW": "pyarrow",
    "TF": "tensorflow",
    "TORCH": "torch",
}


def _wanted(framework: str) -> bool:
    """Whether the environment enables a framework: enabling only torch disables tensorflow, and vice versa."""
    asked, rival = {"TORCH": (USE_TORCH, USE_TF), "TF": (USE_TF, USE_TORCH), "JAX": (USE_JAX, "AUTO")}.get(
        framework, ("AUTO", "AUTO")
    )
    return asked in ENV_VARS_TRUE_VALUES or (asked == "AUTO" and rival not in ENV_VARS_TRUE_VALUES)


def _available(name: str) -> bool:
    return _wanted(name) and importlib.util.find_spec(_PACKAGES[name]) is not None


def _version(name: str) -> Any:
    from importlib import metadata

    from packaging.version import parse

    if name == "PY":
        return parse(platform.python_version())
    try:
        return parse(metadata.version(_DISTRIBUTIONS[name])) if _wanted(name) else "N/A"
    except metadata.PackageNotFoundError:
        return "N/A"


def __getattr__(name: str) -> Any:
    kind, _, suffix = name.rpartition("_")
    if suffix == "AVAILABLE" and kind in _PACKAGES:
        value: Any = _available(kind)
    elif suffix == "VERSION" and (kind in _DISTRIBUTIONS or kind == "PY"):
        value = _version(kind)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
