"""Samples → prompts.

prompts    `Prompt`: from sample to prompt, by a template, a layout of choices and `FewShot` examples
providers  messages in the format of each provider
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "prompts": ("LAYOUTS", "FewShot", "Prompt", "Template", "laid_out"),
    "providers": ("PROVIDERS", "to_anthropic", "to_gemini", "to_openai"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
