from crucible_datasets.benchmarks.rules.base import RULES as RULES
from crucible_datasets.benchmarks.rules.base import Rule as Rule
from crucible_datasets.benchmarks.rules.base import Unfit as Unfit
from crucible_datasets.benchmarks.rules.base import rule as rule
from crucible_datasets.benchmarks.rules.base import table_rule as table_rule
from crucible_datasets.benchmarks.rules.base import value_rule as value_rule
