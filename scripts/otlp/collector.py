"""A collector of spans for tests and demonstrations. See scripts/otlp-collector.sh."""

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

MAX_BODY = 16 << 20
lock = threading.Lock()


def base64_ids(value):
    """OTLP/JSON has trace and span IDs in hex, where Protobuf's JSON has base64."""
    if isinstance(value, list):
        return [base64_ids(element) for element in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
    converted = {}
    for name, member in value.items():
        if name in ids:
            if len(member) != ids[name] or member != member.lower():
                raise ValueError(f"{name} is not {ids[name]} hex digits in lower case")
            converted[name] = base64.b64encode(bytes.fromhex(member)).decode()
        else:
            converted[name] = base64_ids(member)
    return converted


def attributes(pairs):
    result = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        result[pair.key] = getattr(pair.value, kind) if kind else None
    return result


def spans(body):
    """The spans of a request as plain objects. Raises ValueError or json_format.ParseError."""
    request = ExportTraceServiceRequest()
    json_format.ParseDict(base64_ids(json.loads(body)), request)
    for resource_spans in request.resource_spans:
        resource = attributes(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                yield {
                    "trace": span.trace_id.hex(),
                    "span": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(),
                    "kind": Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                    "name": span.name,
                    "start": span.start_time_unix_nano,
                    "end": span.end_time_unix_nano,
                    "status": Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
                    "links": [link.trace_id.hex() for link in span.links],
                    "attributes": attributes(span.attributes),
                    "resource": resource,
                }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    file = None

    def do_POST(self):
        length = int(self.headers.get("content-length", -1))
        if self.path != "/v1/traces" or self.headers.get("content-type") != "application/json":
            return self.answer(404, {})
        if not 0 <= length <= MAX_BODY:
            return self.answer(413, {})
        try:
            lines = [json.dumps(span) + "\n" for span in spans(self.rfile.read(length))]
        except (ValueError, json_format.ParseError) as error:
            print(f"refused: {error}", flush=True)
            return self.answer(400, {"message": str(error)})
        with lock, open(self.file, "a", encoding="utf-8") as file:
            file.write("".join(lines))
        self.answer(200, {})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def serve(file, port):
    Handler.file = file
    open(file, "a", encoding="utf-8").close()
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def draw(file):
    with open(file, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    traces = {}
    for span in sorted(found, key=lambda span: span["start"]):
        traces.setdefault(span["trace"], []).append(span)
    for trace, members in traces.items():
        print(f"trace {trace}: {len(members)} {'span' if len(members) == 1 else 'spans'}")
        known = {span["span"] for span in members}
        for span in members:
            if span["parent"] not in known:
                branch(span, members, members[0]["start"], "")


def branch(span, members, origin, indent):
    offset, took = (span["start"] - origin) / 1e6, (span["end"] - span["start"]) / 1e6
    detail = span["attributes"].get("securepush.platform", "")
    status = span["attributes"].get("http.response.status_code", "")
    words = [span["name"], detail, str(status), "" if span["status"] == "UNSET" else span["status"]]
    head = f"{indent}{span['resource'].get('service.name')}: {' '.join(word for word in words if word)}"
    print(f"  {head}")
    parent = span["parent"] or "none"
    print(f"  {indent}  {span['kind']} {span['span']}, parent {parent}, at {offset:.1f} ms, took {took:.1f} ms")
    for child in members:
        if child["parent"] == span["span"]:
            branch(child, members, origin, indent + "    ")


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(sys.argv[2])
    else:
        serve(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 4318)
