"""Groups of configurations that are too long for a TOML file, by name."""

from __future__ import annotations

_STEM = """abstract_algebra anatomy astronomy college_biology college_chemistry college_computer_science
college_mathematics college_physics computer_security conceptual_physics electrical_engineering
elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science
high_school_mathematics high_school_physics high_school_statistics machine_learning"""

_HUMANITIES = """formal_logic high_school_european_history high_school_us_history high_school_world_history
international_law jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy prehistory
professional_law world_religions"""

_SOCIAL_SCIENCES = """econometrics high_school_geography high_school_government_and_politics
high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality
professional_psychology public_relations security_studies sociology us_foreign_policy"""

_OTHER = """business_ethics clinical_knowledge college_medicine global_facts human_aging management marketing
medical_genetics miscellaneous nutrition professional_accounting professional_medicine virology"""

_BBH = """boolean_expressions causal_judgement date_understanding disambiguation_qa dyck_languages
formal_fallacies geometric_shapes hyperbaton logical_deduction_five_objects logical_deduction_seven_objects
logical_deduction_three_objects movie_recommendation multistep_arithmetic_two navigate object_counting
penguins_in_a_table reasoning_about_colored_objects ruin_names salient_translation_error_detection snarks
sports_understanding temporal_sequences tracking_shuffled_objects_five_objects
tracking_shuffled_objects_seven_objects tracking_shuffled_objects_three_objects web_of_lies word_sorting"""

# As in evaluation harnesses, 19 of the 57 subjects are STEM, including anatomy.
GROUPS: dict[str, dict[str, list[str]]] = {
    "mmlu_subjects": {
        "stem": _STEM.split(),
        "humanities": _HUMANITIES.split(),
        "social_sciences": _SOCIAL_SCIENCES.split(),
        "other": _OTHER.split(),
    },
    "bbh_tasks": {"all": _BBH.split()},
}
