"""What open-source Kubeflow Pipelines refuses: one rule a module.

A module's docstring says why. ``repair`` makes TFX's output keep the rule, in place;
``faults`` finds where any spec breaks it.
"""
