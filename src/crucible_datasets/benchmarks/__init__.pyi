"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.benchmarks.adapters.chat import (
    conversation as conversation,
)
from crucible_datasets.benchmarks.adapters.chat import (
    from_openai as from_openai,
)
from crucible_datasets.benchmarks.adapters.chat import (
    from_pair as from_pair,
)
from crucible_datasets.benchmarks.adapters.chat import (
    from_sharegpt as from_sharegpt,
)
from crucible_datasets.benchmarks.adapters.chat import (
    from_transcript as from_transcript,
)
from crucible_datasets.benchmarks.adapters.chat import (
    message as message,
)
from crucible_datasets.benchmarks.adapters.chat import (
    to_sharegpt as to_sharegpt,
)
from crucible_datasets.benchmarks.adapters.chat import (
    to_transcript as to_transcript,
)
from crucible_datasets.benchmarks.adapters.inspect_ai import (
    from_inspect as from_inspect,
)
from crucible_datasets.benchmarks.adapters.inspect_ai import (
    to_inspect as to_inspect,
)
from crucible_datasets.benchmarks.adapters.inspect_ai import (
    to_inspect_dataset as to_inspect_dataset,
)
from crucible_datasets.benchmarks.adapters.preferences import (
    best_against_worst as best_against_worst,
)
from crucible_datasets.benchmarks.adapters.preferences import (
    between as between,
)
from crucible_datasets.benchmarks.adapters.preferences import (
    labeled_comparison as labeled_comparison,
)
from crucible_datasets.benchmarks.catalog.registry import (
    BenchmarkEntry as BenchmarkEntry,
)
from crucible_datasets.benchmarks.catalog.registry import (
    Catalog as Catalog,
)
from crucible_datasets.benchmarks.catalog.registry import (
    get_benchmark as get_benchmark,
)
from crucible_datasets.benchmarks.catalog.registry import (
    list_benchmarks as list_benchmarks,
)
from crucible_datasets.benchmarks.contamination.finding import (
    Decontaminated as Decontaminated,
)
from crucible_datasets.benchmarks.contamination.finding import (
    decontaminate as decontaminate,
)
from crucible_datasets.benchmarks.contamination.finding import (
    overlap as overlap,
)
from crucible_datasets.benchmarks.contamination.report import (
    OverlapExample as OverlapExample,
)
from crucible_datasets.benchmarks.contamination.report import (
    OverlapReport as OverlapReport,
)
from crucible_datasets.benchmarks.loading.load import (
    Benchmark as Benchmark,
)
from crucible_datasets.benchmarks.loading.load import (
    StreamedBenchmark as StreamedBenchmark,
)
from crucible_datasets.benchmarks.loading.load import (
    load_benchmark as load_benchmark,
)
from crucible_datasets.benchmarks.locks.file import (
    Lock as Lock,
)
from crucible_datasets.benchmarks.locks.file import (
    LockedDataset as LockedDataset,
)
from crucible_datasets.benchmarks.locks.making import (
    check_lock as check_lock,
)
from crucible_datasets.benchmarks.locks.making import (
    lock_datasets as lock_datasets,
)
from crucible_datasets.benchmarks.miniatures.repos import (
    write_miniatures as write_miniatures,
)
from crucible_datasets.benchmarks.owndata.fields import (
    FieldMapping as FieldMapping,
)
from crucible_datasets.benchmarks.owndata.load import (
    load_samples as load_samples,
)
from crucible_datasets.benchmarks.rendering.prompts import (
    FewShot as FewShot,
)
from crucible_datasets.benchmarks.rendering.prompts import (
    Prompt as Prompt,
)
from crucible_datasets.benchmarks.rendering.prompts import (
    Template as Template,
)
from crucible_datasets.benchmarks.rendering.prompts import (
    laid_out as laid_out,
)
from crucible_datasets.benchmarks.rendering.providers import (
    to_anthropic as to_anthropic,
)
from crucible_datasets.benchmarks.rendering.providers import (
    to_gemini as to_gemini,
)
from crucible_datasets.benchmarks.rendering.providers import (
    to_openai as to_openai,
)
from crucible_datasets.benchmarks.rules.base import (
    RULES as RULES,
)
from crucible_datasets.benchmarks.rules.base import (
    Rule as Rule,
)
from crucible_datasets.benchmarks.rules.base import (
    Unfit as Unfit,
)
from crucible_datasets.benchmarks.rules.base import (
    rule as rule,
)
from crucible_datasets.benchmarks.rules.base import (
    table_rule as table_rule,
)
from crucible_datasets.benchmarks.rules.base import (
    value_rule as value_rule,
)
from crucible_datasets.benchmarks.samples.making import (
    samples_from as samples_from,
)
from crucible_datasets.benchmarks.samples.making import (
    samples_of as samples_of,
)
from crucible_datasets.benchmarks.samples.provenance import (
    Provenance as Provenance,
)
from crucible_datasets.benchmarks.samples.shuffling import (
    letter as letter,
)
from crucible_datasets.benchmarks.samples.stream import (
    StreamedSamples as StreamedSamples,
)
from crucible_datasets.benchmarks.samples.table import (
    Samples as Samples,
)
from crucible_datasets.benchmarks.types.comparisons import (
    Comparison as Comparison,
)
from crucible_datasets.benchmarks.types.comparisons import (
    LabeledComparison as LabeledComparison,
)
from crucible_datasets.benchmarks.types.datasets import (
    dataset_of as dataset_of,
)
from crucible_datasets.benchmarks.types.messages import (
    Conversation as Conversation,
)
from crucible_datasets.benchmarks.types.messages import (
    Message as Message,
)
from crucible_datasets.benchmarks.types.messages import (
    Part as Part,
)
from crucible_datasets.benchmarks.types.messages import (
    Picture as Picture,
)
from crucible_datasets.benchmarks.types.sample import (
    Rubric as Rubric,
)
from crucible_datasets.benchmarks.types.sample import (
    Sample as Sample,
)
from crucible_datasets.benchmarks.types.schemas import (
    arrow_schema as arrow_schema,
)
from crucible_datasets.benchmarks.types.schemas import (
    features_of as features_of,
)
from crucible_datasets.benchmarks.types.schemas import (
    sample_features as sample_features,
)
