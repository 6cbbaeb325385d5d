"""Stands in for the package opentelemetry-semantic-conventions, which holds names alone; import it first."""

import sys
import types

NAMES = {"HTTP_RESPONSE_STATUS_CODE": "http.response.status_code"}


class Values:
    def __getattr__(self, name):
        return types.SimpleNamespace(value=name.lower())


class Names(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("create_"):
            return lambda meter: meter.create_up_down_counter(name.removeprefix("create_"))
        if name == "ResourceAttributes":
            return self
        if name.endswith("Values"):
            return Values()
        return NAMES.get(name, name.lower().replace("_", "."))


for path in (
    "",
    ".resource",
    ".attributes",
    ".attributes.code_attributes",
    ".attributes.error_attributes",
    ".attributes.exception_attributes",
    ".attributes.http_attributes",
    "._incubating",
    "._incubating.attributes",
    "._incubating.attributes.otel_attributes",
    "._incubating.metrics",
    "._incubating.metrics.otel_metrics",
):
    full = f"opentelemetry.semconv{path}"
    sys.modules[full] = Names(full)
    parent, _, name = full.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], name, sys.modules[full])
