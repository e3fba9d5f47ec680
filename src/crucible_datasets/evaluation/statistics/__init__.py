"""Uncertainty of scores, in numpy alone: intervals, bootstrap, clusters, paired tests, corrections, power.

Everything here works on arrays. Names are imported on first use; `__init__.pyi` declares them for type checkers.

    interval arrays student · proportions means clusters small_samples groups repeats · bootstrapping resampling ·
    pairs discordance signflips independent (two models) · corrections power exact_power
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "bootstrapping": ("Bootstrap", "bootstrap"),
    "clusters": ("clustered_stderr", "design_effect"),
    "corrections": ("CORRECTIONS", "adjusted", "benjamini_hochberg", "bonferroni", "holm"),
    "discordance": ("mcnemar", "tango"),
    "groups": ("subgroups",),
    "independent": ("UnpairedDifference", "unpaired"),
    "interval": ("Estimate", "Interval"),
    "means": ("mean_interval",),
    "pairs": ("PairedDifference", "paired"),
    "power": ("minimum_detectable_effect", "power_of", "required_sample_size"),
    "proportions": ("wilson",),
    "repeats": ("RepeatedVariance", "repeated_variance"),
    "signflips": ("sign_flip_test",),
    "student": ("student_quantile", "student_tail"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
