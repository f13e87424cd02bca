"""HTTP/2 (by hyper-h2) and HTTP/1.1 connections of a push service."""

import asyncio
import time
from collections import deque

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame, SettingsFrame

from exchange import Refused, Request

# Larger than what is accepted, so that a sender is told 413.
MAX_BODY = 64 << 10
MAX_HEAD = 32 << 10
HUGE = 10 << 20


class Connection(asyncio.Protocol):
    """One connection. The version of HTTP is the one that ALPN gave."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.transport = None
        self.http = None
        # What the rules of a service remember of it.
        self.memory = {}
        # Records whose answer was written: the end of the connection may lose it on its way.
        self.answered = deque(maxlen=1000)

    def connection_made(self, transport):
        self.transport = transport
        self.endpoint.connections.add(self)
        chosen = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        is_h2 = chosen == "h2" or self.endpoint.versions == ("h2",)
        self.endpoint.count("connections", "h2" if is_h2 else "http/1.1")
        self.http = HTTP2(self) if is_h2 else HTTP1(self)

    def data_received(self, data):
        self.http.receive(data)

    def connection_lost(self, _):
        self.endpoint.connections.discard(self)

    def respond(self, stream, answer):
        """Does what the service has decided for one request."""
        fault, record = answer.fault, answer.record
        kind = fault.kind if fault else "answer"
        if kind == "slow":
            asyncio.get_running_loop().call_later(fault.seconds, self.write, stream, answer)
        elif kind in ("answer", "huge", "half"):
            self.write(stream, answer)
        elif kind == "goaway":
            self.http.go_away(stream, self.endpoint.goaway_data(fault.reason))
        elif kind == "reset":
            self.http.reset(stream)
        elif kind in ("lost", "close"):
            self.end()

    def write(self, stream, answer):
        if self.transport.is_closing():
            return
        kind = answer.fault.kind if answer.fault else "answer"
        body = b"x" * HUGE if kind == "huge" else answer.body
        if kind == "half":
            self.http.write(stream, answer.status, answer.headers + [("content-length", "1000")], b"half", ends=False)
            return self.end()
        self.http.write(stream, answer.status, answer.headers + [("content-length", str(len(body)))], body)
        if answer.record is not None and kind != "huge":
            answer.record["answer"] = "sent"
            self.answered.append((time.monotonic(), stream, answer.record))

    def end(self):
        """Closes the connection after what was written. With HTTP/2 answers of the last moments may not arrive."""
        for moment, _, record in self.answered if isinstance(self.http, HTTP2) else ():
            if time.monotonic() - moment < 0.05:
                record["answer"] = "doubtful"
        self.transport.close()

    def reset_by_client(self, stream):
        """The client gave the stream up before it had read the answer."""
        for _, answered, record in self.answered:
            if answered == stream:
                record["answer"] = "doubtful"


class HTTP2:
    def __init__(self, connection):
        self.connection = connection
        # It refuses more streams than the client has been told, once the client has acknowledged that.
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config)
        self.h2.initiate_connection()
        self.h2.data_to_send()
        # hyper-h2 would apply its first settings before the client knows them.
        self.h2.local_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = connection.endpoint.first_streams
        first = {**self.h2.local_settings, SettingCodes.MAX_CONCURRENT_STREAMS: connection.endpoint.first_streams}
        connection.transport.write(SettingsFrame(0, settings=first).serialize())
        self.watch_table()
        # Bodies are small, so the whole connection gets one large window.
        self.h2.increment_flow_control_window(1 << 24)
        self.requests = {}
        # Bodies that wait for the peer's window.
        self.waiting = {}
        # Streams above this one are not processed.
        self.last = None
        self.flush()

    def watch_table(self):
        """Counts which fields the sender puts into the table of HPACK."""
        table, endpoint = self.h2.decoder.header_table, self.connection.endpoint
        add = table.add

        def counted(name, value):
            endpoint.count("indexed", bytes(name).decode("latin-1"))
            add(name, value)

        table.add = counted

    def flush(self):
        if not self.connection.transport.is_closing():
            self.connection.transport.write(self.h2.data_to_send())

    def receive(self, data):
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            self.connection.endpoint.problem(f"HTTP/2: {error}")
            self.flush()
            return self.connection.end()
        for event in events:
            self.handle(event)
        self.flush()

    def handle(self, event):
        endpoint = self.connection.endpoint
        if isinstance(event, h2.events.RequestReceived):
            if self.last is not None and event.stream_id > self.last:
                return
            if not endpoint.may_open(self.connection, len(self.requests)):
                endpoint.problem("a second stream before the first was answered")
                return self.h2.reset_stream(event.stream_id, error_code=7)
            self.requests[event.stream_id] = [event.headers, bytearray(), 0]
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.requests:
                request = self.requests[event.stream_id]
                request[1] += event.data[: MAX_BODY - len(request[1])]
                request[2] += len(event.data)
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.requests:
            headers, body, size = self.requests[event.stream_id]
            fields = {name: value for name, value in headers if name.startswith(":")}
            plain = [pair for pair in headers if pair[0][0] != ":" and pair[0] not in ("host", "content-length")]
            authority = fields.get(":authority") or dict(headers).get("host")
            request = Request(fields[":method"], fields[":path"], authority, plain, bytes(body), size, self.connection)
            self.connection.respond(event.stream_id, endpoint.answer(request))
        elif isinstance(event, h2.events.StreamReset):
            self.requests.pop(event.stream_id, None)
            self.waiting.pop(event.stream_id, None)
            self.connection.reset_by_client(event.stream_id)
            endpoint.count("resets", "client")
        elif isinstance(event, h2.events.WindowUpdated):
            for stream in list(self.waiting):
                self.send(stream)
        elif isinstance(event, h2.events.PingReceived):
            endpoint.count("pings", "received")
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.connection.transport.close()

    def write(self, stream, status, headers, body, ends=True):
        self.requests.pop(stream, None)
        try:
            self.h2.send_headers(stream, [(":status", str(status))] + headers, end_stream=ends and not body)
            if body:
                self.waiting[stream] = (memoryview(body), ends)
                self.send(stream)
        except h2.exceptions.ProtocolError:
            # The client has reset the stream.
            self.waiting.pop(stream, None)
        self.flush()

    def send(self, stream):
        """Sends as much of a body as the windows allow."""
        body, ends = self.waiting[stream]
        try:
            while body:
                size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
                if size <= 0:
                    self.waiting[stream] = (body, ends)
                    return
                self.h2.send_data(stream, bytes(body[:size]), end_stream=ends and size == len(body))
                body = body[size:]
        except h2.exceptions.ProtocolError:
            pass
        self.waiting.pop(stream, None)

    def go_away(self, stream, data):
        """This stream and later ones are not processed; earlier ones still get their answers."""
        self.connection.endpoint.count("goaways", "sent")
        self.last = stream - 2
        self.requests = {number: value for number, value in self.requests.items() if number <= self.last}
        self.flush()
        # hyper-h2 answers nothing after its own GOAWAY.
        frame = GoAwayFrame(0, last_stream_id=max(0, self.last), error_code=0, additional_data=data)
        self.connection.transport.write(frame.serialize())
        asyncio.get_running_loop().call_later(5, self.connection.transport.close)

    def reset(self, stream):
        self.requests.pop(stream, None)
        self.h2.reset_stream(stream, error_code=2)
        self.flush()

    def settings(self, max_streams):
        self.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: max_streams})
        self.flush()


class HTTP1:
    def __init__(self, connection):
        self.connection = connection
        self.buffer = bytearray()
        self.head = None
        # One request at a time.
        self.is_busy = False
        self.closes = False

    def receive(self, data):
        if self.is_busy:
            self.connection.endpoint.problem("HTTP/1.1: a request before the answer to the last")
        self.buffer += data
        self.advance()

    def refuse(self, text):
        self.connection.endpoint.problem(f"HTTP/1.1: {text}")
        self.connection.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        self.connection.end()

    def refuse_length(self, words, headers):
        """A body in chunks, or none that says its length."""
        request = Request(words[0], words[1], None, headers, b"", 0, self.connection)
        refused = Refused(411, "Length Required", "no Content-Length")
        self.closes = True
        self.connection.respond(None, self.connection.endpoint.refuse(request, refused))

    def advance(self):
        while not self.is_busy and not self.connection.transport.is_closing():
            if self.head is None:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return self.refuse("a long head") if len(self.buffer) > MAX_HEAD else None
                lines = self.buffer[:end].decode("latin-1").split("\r\n")
                del self.buffer[: end + 4]
                words = lines[0].split(" ")
                headers = [(name.strip().lower(), value.strip()) for name, _, value in
                           (line.partition(":") for line in lines[1:])]
                length = dict(headers).get("content-length", "" if words[0] == "POST" else "0")
                if words[0] == "POST" and "content-length" not in dict(headers):
                    return self.refuse_length(words, headers)
                if len(words) != 3 or words[2] != "HTTP/1.1" or not length.isdigit() or int(length) > 1 << 24:
                    return self.refuse("a request line or a length that cannot be read")
                self.head = (words, headers, int(length))
            words, headers, length = self.head
            if len(self.buffer) < length:
                return
            body = bytes(self.buffer[: min(length, MAX_BODY)])
            del self.buffer[:length]
            self.head, self.is_busy = None, True
            fields = dict(headers)
            self.closes = fields.get("connection", "").lower() == "close"
            plain = [pair for pair in headers if pair[0] not in ("host", "connection", "content-length")]
            request = Request(words[0], words[1], fields.get("host"), plain, body, length, self.connection)
            self.connection.respond(None, self.connection.endpoint.answer(request))

    def write(self, _, status, headers, body, ends=True):
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        close = "connection: close\r\n" if self.closes else ""
        self.connection.transport.write(f"HTTP/1.1 {status} \r\n{head}{close}\r\n".encode() + body)
        if self.closes and ends:
            return self.connection.transport.close()
        self.is_busy = False
        asyncio.get_running_loop().call_soon(self.advance)

    def go_away(self, stream, data):
        """HTTP/1.1 has no GOAWAY: the connection ends without an answer."""
        self.connection.end()

    def reset(self, stream):
        self.connection.transport.abort()

    def settings(self, max_streams):
        pass
