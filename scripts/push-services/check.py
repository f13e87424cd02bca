"""Drives push services with senders that nobody of SecurePush wrote. See scripts/push-services.sh."""

import importlib
import sys
import tempfile

import driver

SENDERS = {"web-push": "pywebpush", "apns": "aioapns", "fcm": "google-auth, firebase-admin",
           "wns": "django-push-notifications, msal"}

for kind in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        importlib.import_module(f"check_{kind.replace('-', '_')}").check(folder)
    if driver.failures:
        print(f"{driver.failures} of the expectations failed")
        sys.exit(1)
    print(f"{SENDERS[kind]} and the push service agree", flush=True)
