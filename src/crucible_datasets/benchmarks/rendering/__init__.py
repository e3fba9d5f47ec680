"""Samples → prompts.

prompts    `Prompt`: from sample to prompt
templates  texts with placeholders
layouts    the layout of choices
examples   `FewShot`: solved examples before the question
providers  messages in the format of each provider
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "examples": ("FewShot",),
    "layouts": ("LAYOUTS", "laid_out"),
    "prompts": ("Prompt",),
    "providers": ("PROVIDERS", "to_anthropic", "to_gemini", "to_openai"),
    "templates": ("Template",),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
