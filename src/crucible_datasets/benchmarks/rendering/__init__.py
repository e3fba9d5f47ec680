"""Samples → prompts: templates, examples before the question, layouts of choices, messages for any provider."""

from crucible_datasets.later import names as _names

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
