# The image of every component: one for Kubeflow's pods and for `ctr` alone (docs/image.md).
#
#   docker build --platform linux/amd64 --tag tfx-ctr:0.1.0 .
#   ... --build-arg ACCELERATOR=gpu
#   ... --build-arg STACK=older --build-arg PYTHON=3.10 --build-arg DEBIAN=bookworm
#
# The newer stack needs glibc 2.39, which Debian has since trixie.
ARG PYTHON=3.13
ARG DEBIAN=trixie

# The packages: the pins of the lock, as far as setup.py asks for them.
FROM python:${PYTHON}-slim-${DEBIAN} AS packages
# No pins: the release of Debian is one, and this stage is not shipped.
# hadolint ignore=DL3008,DL3009
RUN apt-get update && apt-get install --yes --no-install-recommends g++
WORKDIR /build
# A mirror, where there is one. Without credentials in it: builders record arguments.
ARG PIP_INDEX_URL
ARG UV_DEFAULT_INDEX
COPY locks/uv.txt locks/
ENV PIP_CACHE_DIR=/var/cache/pip
RUN --mount=type=cache,target=/var/cache/pip \
    python -m pip install --requirement locks/uv.txt
# The cache lies on another file system, where uv cannot link to.
ENV UV_CACHE_DIR=/var/cache/uv UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never VIRTUAL_ENV=/opt/venv
RUN uv venv /opt/venv
COPY locks/ locks/
COPY setup.py pyproject.toml ./
ARG PYTHON
ARG STACK=newer
ARG ACCELERATOR=cpu
# A gpu lock holds its cpu lock, too, and constraints install nothing of themselves; the
# driver is the host's. setup.py reads the README, whose edits must not cost this layer.
RUN --mount=type=cache,target=/var/cache/uv \
    case "$ACCELERATOR" in \
      cpu) set -- ;; \
      gpu) set -- --requirement locks/gpu.in ;; \
      *) echo "ACCELERATOR must be cpu or gpu, got '$ACCELERATOR'." >&2; exit 1 ;; \
    esac \
    && touch README.md \
    && uv pip install --compile-bytecode --build-constraints locks/build.txt \
      --constraints "locks/$STACK-py${PYTHON%.*}${PYTHON#*.}-gpu.txt" \
      --requirement setup.py "$@"

# The project, apart from the packages: an edit makes a layer of some megabytes.
FROM packages AS project
COPY setup.py pyproject.toml README.md LICENSE ./
COPY data/ data/
COPY models/ models/
COPY components/ components/
COPY pipeline/ pipeline/
RUN --mount=type=cache,target=/var/cache/uv \
    uv pip install --no-deps --no-build-isolation --compile-bytecode \
      --prefix /opt/project .

FROM python:${PYTHON}-slim-${DEBIAN}
# Group 0 owns what is written, so a cluster that draws user ids at random works, too.
# Kubeflow's launcher puts artifacts under /gcs, /minio and /s3.
RUN useradd --uid 10001 --gid 0 --create-home --shell /usr/sbin/nologin ctr \
    && install --directory --owner=10001 --group=0 --mode=0775 \
      /app /gcs /home/ctr /minio /s3
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/home/ctr \
    PYTHONUNBUFFERED=1 \
    TF_CPP_MIN_LOG_LEVEL=2
WORKDIR /app
COPY scripts/image_check.py scripts/
# Compiled in the builder, as the user here may not write bytecode beside the sources.
COPY --from=packages /opt/venv/ /opt/venv/
COPY --from=project /opt/project/ /opt/venv/
# By number: Kubernetes cannot tell from a name whether runAsNonRoot holds.
USER 10001
# Fails by name on what a pod could not import. Its traces stay out of the image.
RUN --mount=type=tmpfs,target=/tmp HOME=/tmp python scripts/image_check.py
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tfx-ctr" \
      org.opencontainers.image.description="Click-through-rate models on TFX" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"
# No ENTRYPOINT and no tini: Kubeflow names the whole command, and its executor is process
# 1, which hands signals on and reaps. No HEALTHCHECK: a component runs and ends, and its
# exit code is its health.
CMD ["ctr", "--help"]
