"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.evaluation.statistics.bootstrapping import (
    Bootstrap as Bootstrap,
)
from crucible_datasets.evaluation.statistics.bootstrapping import (
    bootstrap as bootstrap,
)
from crucible_datasets.evaluation.statistics.clusters import (
    clustered_stderr as clustered_stderr,
)
from crucible_datasets.evaluation.statistics.clusters import (
    design_effect as design_effect,
)
from crucible_datasets.evaluation.statistics.corrections import (
    CORRECTIONS as CORRECTIONS,
)
from crucible_datasets.evaluation.statistics.corrections import (
    adjusted as adjusted,
)
from crucible_datasets.evaluation.statistics.corrections import (
    benjamini_hochberg as benjamini_hochberg,
)
from crucible_datasets.evaluation.statistics.corrections import (
    bonferroni as bonferroni,
)
from crucible_datasets.evaluation.statistics.corrections import (
    holm as holm,
)
from crucible_datasets.evaluation.statistics.discordance import (
    mcnemar as mcnemar,
)
from crucible_datasets.evaluation.statistics.discordance import (
    tango as tango,
)
from crucible_datasets.evaluation.statistics.groups import (
    subgroups as subgroups,
)
from crucible_datasets.evaluation.statistics.independent import (
    UnpairedDifference as UnpairedDifference,
)
from crucible_datasets.evaluation.statistics.independent import (
    unpaired as unpaired,
)
from crucible_datasets.evaluation.statistics.interval import (
    Estimate as Estimate,
)
from crucible_datasets.evaluation.statistics.interval import (
    Interval as Interval,
)
from crucible_datasets.evaluation.statistics.means import (
    mean_interval as mean_interval,
)
from crucible_datasets.evaluation.statistics.pairs import (
    PairedDifference as PairedDifference,
)
from crucible_datasets.evaluation.statistics.pairs import (
    paired as paired,
)
from crucible_datasets.evaluation.statistics.power import (
    minimum_detectable_effect as minimum_detectable_effect,
)
from crucible_datasets.evaluation.statistics.power import (
    power_of as power_of,
)
from crucible_datasets.evaluation.statistics.power import (
    required_sample_size as required_sample_size,
)
from crucible_datasets.evaluation.statistics.proportions import (
    wilson as wilson,
)
from crucible_datasets.evaluation.statistics.repeats import (
    RepeatedVariance as RepeatedVariance,
)
from crucible_datasets.evaluation.statistics.repeats import (
    repeated_variance as repeated_variance,
)
from crucible_datasets.evaluation.statistics.signflips import (
    sign_flip_test as sign_flip_test,
)
from crucible_datasets.evaluation.statistics.student import (
    student_quantile as student_quantile,
)
from crucible_datasets.evaluation.statistics.student import (
    student_tail as student_tail,
)
