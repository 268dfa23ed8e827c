"""What a cluster takes for a name; every function returns the broken rule or None.

Kubernetes refuses a bad name when the run is created, long after the compile.
"""

import re

# Kubernetes cuts generated names at 58 and allows 63 in a label value.
PIPELINE_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
PIPELINE_NAME_LENGTH = 63
# Argo Workflows takes this for a task; Kubeflow appends "-driver" (7 of 128).
TASK_NAME = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9]*")
TASK_NAME_LENGTH = 121
# A component's name becomes a part of a parameter's name in Argo Workflows.
COMPONENT_NAME = re.compile(r"[-_a-zA-Z0-9]+")
PARAMETER_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
LABEL_VALUE = re.compile(r"([a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?)?")
LABEL_KEY = re.compile(
    r"([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?"
)
# An extended resource has a domain: nvidia.com/gpu.
RESOURCE_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[-_.a-zA-Z0-9]+")
OBJECT_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")


def pipeline_name_rule(name: str) -> str | None:
    """The rule that the name of a pipeline breaks."""
    return _broken(
        PIPELINE_NAME,
        PIPELINE_NAME_LENGTH,
        name,
        "lower case letters, digits, '-' and '.', a letter or digit first and last",
    )


def task_name_rule(name: str) -> str | None:
    """The rule that the name of a task breaks."""
    return _broken(
        TASK_NAME,
        TASK_NAME_LENGTH,
        name,
        "letters, digits and '-', a letter or digit first",
    )


def component_name_rule(name: str) -> str | None:
    """The rule that the name of a component breaks."""
    return _broken(
        COMPONENT_NAME, TASK_NAME_LENGTH, name, "letters, digits, '-' and '_'"
    )


def parameter_name_rule(name: str) -> str | None:
    """The rule that the name of a run's parameter breaks."""
    return _broken(PARAMETER_NAME, 63, name, "letters, digits and '_', no digit first")


def label_rule(key: str, value: str) -> str | None:
    """The rule that a label of a pod or node breaks."""
    name = key.rpartition("/")[2]
    if len(name) > 63 or not LABEL_KEY.fullmatch(key):
        return (
            "a label's key must be letters, digits, '-', '_' and '.', at most 63, "
            "after an optional domain and '/'"
        )
    if len(value) > 63 or not LABEL_VALUE.fullmatch(value):
        return (
            "a label's value must be letters, digits, '-', '_' and '.', at most 63, "
            "a letter or digit first and last"
        )
    return None


def _broken(pattern: re.Pattern[str], most: int, name: str, text: str) -> str | None:
    """The rule as a sentence if the name breaks it."""
    if len(name) <= most and pattern.fullmatch(name):
        return None
    return f"must be 1 to {most} characters: {text}"
