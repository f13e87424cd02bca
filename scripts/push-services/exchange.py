"""A request as the rules of a service see it, and the answer to it."""


class Request:
    """headers: a list of pairs with names in lower case, without those that HTTP itself needs."""

    __slots__ = ("method", "path", "authority", "headers", "body", "size", "connection", "fields")

    def __init__(self, method, path, authority, headers, body, size, connection):
        self.method, self.path, self.authority, self.headers = method, path, authority, headers
        # The first part of the body, and the length of the whole.
        self.body, self.size, self.connection = body, size, connection
        self.fields = dict(headers)

    def refuse_duplicates(self, names, status, reason):
        if len(self.fields) < len(self.headers):
            found = [name for name, _ in self.headers]
            for name in names:
                if found.count(name) > 1:
                    raise Refused(status, reason, name)


class Refused(Exception):
    """A request that is not accepted: the status and the reason in the vendor's words.

    detail: what is wrong, for people; it is recorded. headers: of the answer."""

    def __init__(self, status, reason, detail="", headers=(), **values):
        super().__init__(reason)
        self.status, self.reason, self.detail, self.headers = status, reason, detail, list(headers)
        # What the form of a vendor has besides, such as the time stamp of a 410.
        self.values = values


class Answer:
    """record: of the push that was accepted. fault: what is done in place of a plain answer."""

    def __init__(self, status, headers=(), body=b"", record=None, fault=None):
        self.status, self.headers, self.body = status, list(headers), body
        self.record, self.fault = record, fault


class Device:
    """A device: its handle is what a sender addresses. A kind adds what else it has."""

    def __init__(self, name, handle):
        self.id, self.handle = name, handle
        # Since when it is gone, in milliseconds since 1970.
        self.gone, self.accepted = None, 0

    def describe(self):
        return {"id": self.id, "handle": self.handle, "gone": self.gone, "accepted": self.accepted}
