"""JSON Web Tokens in their compact form, and base64url."""

import base64
import json
import re


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    """Strict base64url without padding."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encoded(data) != text:
        raise ValueError("not canonical base64url")
    return data


def read_token(text):
    """Returns header, claims, the signed part and the signature. Nothing is verified."""
    parts = text.split(".")
    if len(parts) != 3:
        raise ValueError("not three parts")
    header, claims = json.loads(decoded(parts[0])), json.loads(decoded(parts[1]))
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise ValueError("header or claims are no object")
    return header, claims, f"{parts[0]}.{parts[1]}".encode(), decoded(parts[2])
