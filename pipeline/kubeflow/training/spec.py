"""What the Trainer step knows of the cluster: written at compile, read in the pod."""

import hashlib

from data.settings import Settings
from pipeline.kubeflow.config import KubeflowConfig, TrainingSettings
from pipeline.kubeflow.pod_config import PodSettings, Secret

# Where the compiled Trainer's custom_config holds it, as JSON text.
KEY = "kubeflow_training"
# A pod is called <job>-node-0-<index>-<5 letters>, and 63 is the most of a host.
_PREFIX_LENGTH = 30


class TrainingSpec(Settings):
    """A job of the cluster, but for what it trains on."""

    pipeline: str
    image: str
    training: TrainingSettings
    service_account: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    queue: str | None = None

    @classmethod
    def of(
        cls,
        pipeline: str,
        image: str,
        cluster: KubeflowConfig,
        training: TrainingSettings,
    ) -> "TrainingSpec":
        """Completes the settings of the workers by those of all pods.

        Args:
            pipeline: name of the pipeline.
            image: image of the workers, with its tag or digest.
            cluster: the configuration of the cluster.
            training: that of the job.

        Returns:
            The specification.
        """
        pod = training.over(cluster.defaults)
        completed = {name: getattr(pod, name) for name in PodSettings.model_fields}
        return cls(
            pipeline=pipeline,
            image=image,
            training=training.model_copy(update=completed),
            service_account=cluster.service_account,
            image_pull_secrets=cluster.image_pull_secrets,
            secrets=cluster.secrets,
            queue=cluster.queue,
        )


def job_name(pipeline: str, uri: str) -> str:
    """Names a job by what it writes, so that a second one for the same is refused.

    Args:
        pipeline: name of the pipeline.
        uri: of the job file, which is one run's own.

    Returns:
        A name of at most 41 characters that Kubernetes takes for a host.
    """
    digest = hashlib.sha256(uri.encode()).hexdigest()[:10]
    return f"{pipeline[:_PREFIX_LENGTH].rstrip('-')}-{digest}"
