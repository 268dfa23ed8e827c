"""Package definition of tfx-ctr; the exact pins live in ``locks/``."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = ("data", "models", "components", "pipeline")

setup(
    name="tfx-ctr",
    version="0.1.0",
    description="A production pipeline for click-through-rate prediction on TFX.",
    long_description=Path(__file__).with_name("README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10,<3.14",
    packages=find_packages(
        include=[pattern for name in PACKAGES for pattern in (name, f"{name}.*")]
    ),
    package_data={
        "": ["py.typed"],
        "components": ["report/templates/*"],
        "pipeline": ["**/*.yaml", "**/*.json"],
    },
    # Ranges say what can work; set-up installs the tested pins of a lock file.
    install_requires=[
        'tfx==1.16.0; python_version < "3.11"',
        'tfx==1.21.0; python_version >= "3.11"',
        'kfp==2.5.0; python_version < "3.11"',
        'kfp>=2.16,<3; python_version >= "3.11"',
        "click>=8.1",
        "dill",
        "google-crc32c>=1.5",
        "isal>=1.7",
        "jinja2>=3.1",
        "kubernetes",
        "numpy>=1.22",
        "pandas>=1.5",
        "plotly>=6",
        "psutil>=5.9",
        "pyarrow>=10",
        "pydantic>=2.7,<3",
        "pyyaml>=6",
        "rich>=13",
        "scipy>=1.11",
        "tensorboard>=2.16",
        # TensorBoard imports pkg_resources, which 82 dropped.
        "setuptools<82",
    ],
    entry_points={"console_scripts": ["ctr = pipeline.cli.main:main"]},
)
