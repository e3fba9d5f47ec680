"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.benchmarks.rendering.prompts import (
    LAYOUTS as LAYOUTS,
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
    PROVIDERS as PROVIDERS,
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
