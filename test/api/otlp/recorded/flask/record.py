"""A Flask service whose exception the OpenTelemetry SDK for Python exports; see README.md beside it."""

import gzip
import logging
import pathlib
import sys

import conventions  # noqa: F401, before what imports the package
from flask import Flask, g, request
from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

OUT = pathlib.Path(sys.argv[1])


def recorded(signal, encode):
    """An exporter that keeps the body the OTLP/HTTP exporter sends: its encoder's message, compressed with gzip."""

    class Exporter:
        def export(self, batch):
            body = encode(batch).SerializePartialToString()
            (OUT / f"{signal}.pb.gz").write_bytes(gzip.compress(body))
            return 0  # SUCCESS, of spans and of logs

        def shutdown(self):
            pass

        def force_flush(self, timeout_millis=30_000):
            return True

    return Exporter()


resource = Resource.create({"service.name": "shop", "service.version": "1.4.2", "deployment.environment.name": "prod"})
tracers = TracerProvider(resource=resource)
tracers.add_span_processor(BatchSpanProcessor(recorded("traces", encode_spans)))
trace.set_tracer_provider(tracers)
loggers = LoggerProvider(resource=resource)
loggers.add_log_record_processor(BatchLogRecordProcessor(recorded("logs", encode_logs)))
set_logger_provider(loggers)
logging.getLogger().addHandler(LoggingHandler(logger_provider=loggers))
logging.getLogger().setLevel(logging.INFO)


class CardDeclined(Exception):
    """What a payment provider answers."""


app = Flask("shop")
tracer = trace.get_tracer("shop")


# What opentelemetry-instrumentation-flask does around a request, with the names of the semantic conventions for HTTP.
@app.before_request
def begin():
    rule = request.url_rule.rule if request.url_rule else request.path
    g.scope = tracer.start_as_current_span(
        f"{request.method} {rule}",
        kind=trace.SpanKind.SERVER,
        attributes={
            "http.request.method": request.method,
            "http.route": rule,
            "url.path": request.path,
            "url.scheme": request.scheme,
            "server.address": "shop.example",
            "user_agent.original": "curl/8.5.0",
        },
    )
    g.span = g.scope.__enter__()


@app.teardown_request
def end(error):
    g.span.set_attribute("http.response.status_code", 500 if error else 200)
    if error:
        g.scope.__exit__(type(error), error, error.__traceback__)
    else:
        g.scope.__exit__(None, None, None)


@app.post("/pay/<int:cid>")
def pay(cid):
    app.logger.info("charging customer %s", cid)
    charge(cid)
    return {"ok": True}


def charge(cid):
    raise CardDeclined(f"card declined: insufficient funds (customer {cid})")


answer = app.test_client().post("/pay/42")
print(answer.status)
tracers.shutdown()
loggers.shutdown()
