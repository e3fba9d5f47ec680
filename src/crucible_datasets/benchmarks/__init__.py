"""Named datasets of the field, and data of one's own, as typed samples in one schema.

A row of `load_benchmark("gsm8k")` goes through these folders from top to bottom; the docstring of each folder tells
its modules.

What it becomes
    types/          Sample, Message, Conversation, Comparison, Rubric, and their schemas
                      records messages comparisons sample schemas datasets
    adapters/       chats and judgements of other shapes ↔ the types
                      chat transcripts parts preferences inspect_ai
Where it comes from
    catalog/        which benchmarks there are: entries/ (a TOML file for each), entry groups registry
    miniatures/     made-up rows with the columns of the real ones
                      base words (how they are made) · maths texts choices talks judgements programs pictures ·
                      repos (as repositories for a Hub of one's own)
How it becomes a sample
    rules/          named, versioned functions from columns to fields
                      base (what a rule is) · questions answers choices chats preferences code pictures · tables
    loading/        `load_benchmark`: load · origins pieces (which rows) · converting shapes (rows → fields) ·
                      benchmark (the result) · naming (data by a short text)
    owndata/        `load_samples`: load · sources (which rows) ·
                      fields paths values preferences columns (rows → fields)
    samples/        samples over a dataset: making · table stream base (the classes) · decoding pictures ·
                      shuffling judged idnames provenance
What is done with it
    rendering/      samples → prompts: prompts · templates layouts examples · providers
    locks/          which data a project uses, to the byte: entries rowhash file guard making
    contamination/  what two datasets have in common
                      finding report · sources texts words letters grams pairs (what is compared) ·
                      index scan minhash passages

Names are loaded when they are first used; `__init__.pyi` tells them to type checkers.
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
