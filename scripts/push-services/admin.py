"""The admin API: JSON over HTTP/1.1 on loopback, for the test only. It is the same for all kinds of services."""

import asyncio
import json
import time
from urllib.parse import parse_qsl, urlsplit

MAX_BODY = 16 << 20


class Admin:
    def __init__(self, service):
        self.service = service

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(min(int(fields.get("content-length", 0)), MAX_BODY))
                status, value = self.answer(method, target, body)
                text = json.dumps(value).encode()
                writer.write(f"HTTP/1.1 {status} \r\nContent-Type: application/json\r\n"
                             f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
            pass
        except asyncio.CancelledError:
            # The service ends.
            pass
        finally:
            writer.close()

    def answer(self, method, target, body):
        parts = urlsplit(target)
        path = [part for part in parts.path.split("/") if part]
        try:
            return 200, self.perform(method, path, dict(parse_qsl(parts.query)), json.loads(body or b"{}"))
        except KeyError as error:
            return 404, {"error": f"there is no {error}"}
        except (TypeError, ValueError, AttributeError) as error:
            return 400, {"error": str(error)}

    def perform(self, method, path, query, value):
        service = self.service
        match method, path:
            case "GET", ["state"]:
                return service.state()
            case "POST", ["devices"]:
                return {"devices": [device.describe() for device in service.make_devices(value)]}
            case "GET", ["devices"]:
                return {"devices": [device.describe() for device in service.devices.values()]}
            case "POST", ["devices", name, "gone"]:
                service.devices[name].gone = int(value.get("since", time.time() * 1000))
                return {}
            case "PUT", ["credentials"]:
                service.set_credentials(value["credentials"])
                return {}
            case "POST", ["tokens", "expire"]:
                service.expire_tokens()
                return {}
            case "GET", ["pushes"]:
                return service.list_pushes(query)
            case "DELETE", ["pushes"]:
                return {"next": service.forget()}
            case "GET", ["refusals"]:
                return {"refusals": service.refusals}
            case "GET", ["answers"]:
                return {"answers": [{"status": status, "reason": reason} for status, reason in service.answers]}
            case "PUT", ["faults"]:
                self.faults(query).set(value)
                return {}
            case "POST", ["next"]:
                self.faults(query).add_next(value["answers"])
                return {}
            case "DELETE", ["next"]:
                self.faults(query).next = []
                return {}
            case "PUT", ["settings"]:
                service.set(value)
                return {}
        raise KeyError("/".join(path))

    def faults(self, query):
        place = query.get("at", "push")
        for endpoint in self.service.endpoints:
            if endpoint.name == place:
                return endpoint.faults
        raise KeyError(place)
