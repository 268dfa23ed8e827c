"""What a cluster takes for a name; every function returns the broken rule or None.

Kubernetes refuses a bad name when the run is created, long after the compile. Its rules:
https://github.com/kubernetes/apimachinery/blob/master/pkg/util/validation/validation.go
"""

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_LABEL = re.compile(_LABEL)
SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
SUBDOMAIN_LENGTH = 253
# Kubernetes cuts generated names at 58 and allows 63 in a label value.
PIPELINE_NAME_LENGTH = 63
# Argo Workflows takes this for a task; Kubeflow appends "-driver" (7 of 128).
TASK_NAME = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9]*")
TASK_NAME_LENGTH = 121
# A component's name becomes a part of a parameter's name in Argo Workflows.
COMPONENT_NAME = re.compile(r"[-_a-zA-Z0-9]+")
PARAMETER_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# The name in a label's key or a resource, and the value of a label.
QUALIFIED_NAME = re.compile(r"[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?")
QUALIFIED_NAME_LENGTH = 63
SECRET_ENTRY = re.compile(r"(?!\.\Z|\.\.)[-._a-zA-Z0-9]+")
# What finds Python, libraries and the home in the image, and what the cluster, the
# launcher and the training job set: with a secret's text there, no container starts.
TAKEN_VARIABLES = re.compile(
    r"PATH|HOME|TF_CONFIG|(LD_|PYTHON|CTR_|KFP_|KUBERNETES_).*"
)

_DNS = "lower case letters, digits and '-', a letter or digit first and last"
_DOTS = f"{_DNS}, also beside each '.'"
_QUALIFIED = "letters, digits, '-', '_' and '.', a letter or digit first and last"


def dns_label_rule(name: str) -> str | None:
    """The rule that the name of a namespace breaks."""
    return _broken(DNS_LABEL, 63, name, _DNS)


def object_name_rule(name: str) -> str | None:
    """The rule that the name of a secret or a service account breaks."""
    return _broken(SUBDOMAIN, SUBDOMAIN_LENGTH, name, _DOTS)


def queue_rule(name: str) -> str | None:
    """The rule that the name of a queue breaks, which becomes a label's value."""
    return _broken(SUBDOMAIN, QUALIFIED_NAME_LENGTH, name, _DOTS)


def pipeline_name_rule(name: str) -> str | None:
    """The rule that the name of a pipeline breaks."""
    return _broken(SUBDOMAIN, PIPELINE_NAME_LENGTH, name, _DOTS)


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


def variable_rule(name: str) -> str | None:
    """The rule that a variable from a secret breaks."""
    if TAKEN_VARIABLES.fullmatch(name):
        return "the image or the cluster sets this variable; choose another"
    return _broken(PARAMETER_NAME, 253, name, "letters, digits and '_', no digit first")


def secret_entry_rule(entry: str) -> str | None:
    """The rule that the name of a secret's entry breaks."""
    if _broken(SECRET_ENTRY, 253, entry, ""):
        return (
            "must name an entry of the secret, never hold its value: letters, digits, "
            "'-', '_' and '.', at most 253"
        )
    return None


def label_key_rule(key: str) -> str | None:
    """The rule that the key of a label or a taint breaks."""
    prefix, slash, name = key.rpartition("/")
    if (slash and object_name_rule(prefix)) or _qualified(name):
        return (
            "a label's key must be letters, digits, '-', '_' and '.', at most 63, "
            "after an optional domain and '/'"
        )
    return None


def label_value_rule(value: str) -> str | None:
    """The rule that the value of a label or a taint breaks."""
    if value and _qualified(value):
        return (
            "a label's value must be letters, digits, '-', '_' and '.', at most 63, "
            "a letter or digit first and last"
        )
    return None


def label_rule(key: str, value: str) -> str | None:
    """The rule that a label of a pod or node breaks."""
    return label_key_rule(key) or label_value_rule(value)


def resource_rule(name: str) -> str | None:
    """The rule that the resource of an accelerator breaks: it has a domain."""
    domain, slash, kind = name.partition("/")
    # Kubernetes keeps the prefix for quotas.
    if (
        not slash
        or name.startswith("requests.")
        or object_name_rule(domain)
        or _qualified(kind)
    ):
        return "must be a resource with its domain, such as nvidia.com/gpu"
    return None


def _qualified(name: str) -> str | None:
    """The rule that the name in a label's key or a resource breaks."""
    return _broken(QUALIFIED_NAME, QUALIFIED_NAME_LENGTH, name, _QUALIFIED)


def _broken(pattern: re.Pattern[str], most: int, name: str, text: str) -> str | None:
    """The rule as a sentence if the name breaks it."""
    if len(name) <= most and pattern.fullmatch(name):
        return None
    return f"must be 1 to {most} characters: {text}"
