import json
import os
import sys
import time
import urllib.error
import urllib.request


def send(recipient, payload, key):
    body = json.dumps({"Recipient": recipient, "Payload": payload}).encode()
    headers = {
        "Authorization": "Bearer " + os.environ["INGEST_API_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    url = os.environ["INGEST_URL"] + "/api/notifications"
    for attempt in range(1, 6):
        try:
            request = urllib.request.Request(url, body, headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["Id"]
        except urllib.error.HTTPError as error:
            text = error.read()
            if error.code not in (409, 429, 502, 503, 504) or attempt == 5:
                raise SystemExit(describe(error.code, text))
            time.sleep(float(error.headers.get("Retry-After") or attempt))
        except OSError as error:
            if attempt == 5:
                raise SystemExit(f"ingest does not answer: {error}")
            time.sleep(attempt)


def describe(status, text):
    try:
        problem = json.loads(text)
    except ValueError:
        return f"ingest answered {status}"
    lines = [f"{status} {problem.get('title')}: {problem.get('detail')}"]
    lines += [f"{issue['pointer']}: {issue['detail']}" for issue in problem.get("errors", [])]
    return "\n".join(lines)


print(send("alice", {"Order": 1093, "State": "shipped"}, "order-1093-python"))
