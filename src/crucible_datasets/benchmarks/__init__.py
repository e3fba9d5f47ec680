"""Well-known datasets, and users' own data, as typed samples in one schema.

The folders, in the order in which `load_benchmark("gsm8k")` uses them; the docstring of each describes its modules.

Types
    types/          Sample, Message, Conversation, Comparison, Rubric, and their schemas
                      records messages comparisons sample schemas datasets
    adapters/       chats and preferences in other formats ↔ the types
                      chat transcripts parts preferences inspect_ai
Sources of rows
    catalog/        the registry of benchmarks: entries/ (a TOML file for each), entry groups registry
    miniatures/     generated rows with the columns of the real ones
                      base words (the generator) · maths texts choices talks judgements programs pictures ·
                      repos (as repositories for a local Hub)
From rows to samples
    rules/          named, versioned functions from columns to fields
                      base (`Rule`) · questions answers choices chats preferences code pictures · tables
    loading/        `load_benchmark`: load · origins pieces (which rows) · converting shapes (rows → fields) ·
                      benchmark (the result) · naming (data by a short text)
    owndata/        `load_samples`: load · sources (which rows) ·
                      fields paths values preferences columns (rows → fields)
    samples/        samples over a dataset: making · table stream base (the classes) · decoding pictures ·
                      shuffling judged idnames provenance
Uses of samples
    rendering/      samples → prompts: prompts · templates layouts examples · providers
    locks/          lock files that pin data by hash: entries rowhash file guard making
    contamination/  overlap of two datasets
                      finding report · sources texts words letters grams pairs (what is compared) ·
                      index scan minhash passages

Names are imported on first use; `__init__.pyi` declares them for type checkers.
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "adapters.chat": ("conversation", "from_openai", "from_pair", "from_sharegpt", "message", "to_sharegpt"),
    "adapters.inspect_ai": ("from_inspect", "to_inspect", "to_inspect_dataset"),
    "adapters.preferences": ("best_against_worst", "between", "labeled_comparison"),
    "adapters.transcripts": ("from_transcript", "to_transcript"),
    "catalog.entry": ("BenchmarkEntry",),
    "catalog.registry": ("Catalog", "get_benchmark", "list_benchmarks"),
    "contamination.finding": ("Decontaminated", "decontaminate", "overlap"),
    "contamination.report": ("OverlapExample", "OverlapReport"),
    "loading.benchmark": ("Benchmark", "StreamedBenchmark"),
    "loading.load": ("load_benchmark",),
    "locks.entries": ("LockedDataset",),
    "locks.file": ("Lock",),
    "locks.making": ("check_lock", "lock_datasets"),
    "miniatures.repos": ("write_miniatures",),
    "owndata.fields": ("FieldMapping",),
    "owndata.load": ("load_samples",),
    "rendering.examples": ("FewShot",),
    "rendering.layouts": ("laid_out",),
    "rendering.prompts": ("Prompt",),
    "rendering.providers": ("to_anthropic", "to_gemini", "to_openai"),
    "rendering.templates": ("Template",),
    "rules.base": ("RULES", "Rule", "Unfit", "rule", "table_rule", "value_rule"),
    "samples.making": ("samples_from", "samples_of"),
    "samples.provenance": ("Provenance",),
    "samples.shuffling": ("letter",),
    "samples.stream": ("StreamedSamples",),
    "samples.table": ("Samples",),
    "types.comparisons": ("Comparison", "LabeledComparison"),
    "types.datasets": ("dataset_of",),
    "types.messages": ("Conversation", "Message", "Part", "Picture"),
    "types.sample": ("Rubric", "Sample"),
    "types.schemas": ("arrow_schema", "features_of", "sample_features"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
