"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets import logging as logging
from crucible_datasets.arrow_dataset import (
    Column as Column,
)
from crucible_datasets.arrow_dataset import (
    Dataset as Dataset,
)
from crucible_datasets.benchmarks import (
    FieldMapping as FieldMapping,
)
from crucible_datasets.benchmarks import (
    decontaminate as decontaminate,
)
from crucible_datasets.benchmarks import (
    list_benchmarks as list_benchmarks,
)
from crucible_datasets.benchmarks import (
    load_benchmark as load_benchmark,
)
from crucible_datasets.benchmarks import (
    load_samples as load_samples,
)
from crucible_datasets.benchmarks import (
    overlap as overlap,
)
from crucible_datasets.builder import (
    ArrowBasedBuilder as ArrowBasedBuilder,
)
from crucible_datasets.builder import (
    BuilderConfig as BuilderConfig,
)
from crucible_datasets.builder import (
    DatasetBuilder as DatasetBuilder,
)
from crucible_datasets.builder import (
    GeneratorBasedBuilder as GeneratorBasedBuilder,
)
from crucible_datasets.combine import (
    concatenate_datasets as concatenate_datasets,
)
from crucible_datasets.combine import (
    interleave_datasets as interleave_datasets,
)
from crucible_datasets.dataset_dict import (
    DatasetDict as DatasetDict,
)
from crucible_datasets.download import (
    DownloadConfig as DownloadConfig,
)
from crucible_datasets.download import (
    DownloadManager as DownloadManager,
)
from crucible_datasets.download import (
    StreamingDownloadManager as StreamingDownloadManager,
)
from crucible_datasets.evaluation import (
    ResultStore as ResultStore,
)
from crucible_datasets.evaluation import (
    compare as compare,
)
from crucible_datasets.evaluation import (
    evaluate as evaluate,
)
from crucible_datasets.evaluation import (
    evaluate_many as evaluate_many,
)
from crucible_datasets.executors.ray import (
    RayExecutor as RayExecutor,
)
from crucible_datasets.features import (
    Array2D as Array2D,
)
from crucible_datasets.features import (
    Array3D as Array3D,
)
from crucible_datasets.features import (
    Array4D as Array4D,
)
from crucible_datasets.features import (
    Array5D as Array5D,
)
from crucible_datasets.features import (
    Audio as Audio,
)
from crucible_datasets.features import (
    BioSequence as BioSequence,
)
from crucible_datasets.features import (
    BioStructure as BioStructure,
)
from crucible_datasets.features import (
    ClassLabel as ClassLabel,
)
from crucible_datasets.features import (
    Features as Features,
)
from crucible_datasets.features import (
    Image as Image,
)
from crucible_datasets.features import (
    Json as Json,
)
from crucible_datasets.features import (
    LargeList as LargeList,
)
from crucible_datasets.features import (
    List as List,
)
from crucible_datasets.features import (
    Mesh as Mesh,
)
from crucible_datasets.features import (
    Nifti as Nifti,
)
from crucible_datasets.features import (
    Pdf as Pdf,
)
from crucible_datasets.features import (
    Sequence as Sequence,
)
from crucible_datasets.features import (
    Translation as Translation,
)
from crucible_datasets.features import (
    TranslationVariableLanguages as TranslationVariableLanguages,
)
from crucible_datasets.features import (
    Value as Value,
)
from crucible_datasets.features import (
    Video as Video,
)
from crucible_datasets.fingerprint import (
    disable_caching as disable_caching,
)
from crucible_datasets.fingerprint import (
    enable_caching as enable_caching,
)
from crucible_datasets.fingerprint import (
    is_caching_enabled as is_caching_enabled,
)
from crucible_datasets.info import (
    DatasetInfo as DatasetInfo,
)
from crucible_datasets.iterable_dataset import (
    IterableColumn as IterableColumn,
)
from crucible_datasets.iterable_dataset import (
    IterableDataset as IterableDataset,
)
from crucible_datasets.iterable_dataset_dict import (
    IterableDatasetDict as IterableDatasetDict,
)
from crucible_datasets.load import (
    get_dataset_config_info as get_dataset_config_info,
)
from crucible_datasets.load import (
    get_dataset_config_names as get_dataset_config_names,
)
from crucible_datasets.load import (
    get_dataset_default_config_name as get_dataset_default_config_name,
)
from crucible_datasets.load import (
    get_dataset_infos as get_dataset_infos,
)
from crucible_datasets.load import (
    get_dataset_split_names as get_dataset_split_names,
)
from crucible_datasets.load import (
    load_dataset as load_dataset,
)
from crucible_datasets.load import (
    load_dataset_builder as load_dataset_builder,
)
from crucible_datasets.load import (
    load_from_disk as load_from_disk,
)
from crucible_datasets.progress import (
    are_progress_bars_disabled as are_progress_bars_disabled,
)
from crucible_datasets.progress import (
    disable_progress_bar as disable_progress_bar,
)
from crucible_datasets.progress import (
    disable_progress_bars as disable_progress_bars,
)
from crucible_datasets.progress import (
    enable_progress_bar as enable_progress_bar,
)
from crucible_datasets.progress import (
    enable_progress_bars as enable_progress_bars,
)
from crucible_datasets.progress import (
    is_progress_bar_enabled as is_progress_bar_enabled,
)
from crucible_datasets.progress import (
    tqdm as tqdm,
)
from crucible_datasets.reading.modes import (
    DownloadMode as DownloadMode,
)
from crucible_datasets.reading.modes import (
    VerificationMode as VerificationMode,
)
from crucible_datasets.shim import (
    install_as_datasets as install_as_datasets,
)
from crucible_datasets.splits import (
    NamedSplit as NamedSplit,
)
from crucible_datasets.splits import (
    NamedSplitAll as NamedSplitAll,
)
from crucible_datasets.splits import (
    ReadInstruction as ReadInstruction,
)
from crucible_datasets.splits import (
    Split as Split,
)
from crucible_datasets.splits import (
    SplitBase as SplitBase,
)
from crucible_datasets.splits import (
    SplitDict as SplitDict,
)
from crucible_datasets.splits import (
    SplitGenerator as SplitGenerator,
)
from crucible_datasets.splits import (
    SplitInfo as SplitInfo,
)
from crucible_datasets.splits import (
    SubSplitInfo as SubSplitInfo,
)
from crucible_datasets.splits import (
    percent as percent,
)
from crucible_datasets.stability import (
    experimental as experimental,
)
from crucible_datasets.version import (
    Version as Version,
)
from crucible_datasets.viewer import (
    view as view,
)

__all__: list[str]
__version__: str
