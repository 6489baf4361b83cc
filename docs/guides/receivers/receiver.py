# Receives events of Jeton: Python 3.8 or newer, nothing to install.
#
#   WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
TOLERANCE_SECONDS = 5 * 60
LARGEST_BODY = 1024 * 1024


def check_signature(headers, body, secret):
    """Raises ValueError unless the holder of the secret signed the body within the last 5 minutes."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (message_id and timestamp and signatures):
        raise ValueError("missing signature")
    if not (timestamp.isdigit() and abs(time.time() - int(timestamp)) <= TOLERANCE_SECONDS):
        raise ValueError("timestamp too far from now")

    key = base64.b64decode(secret[len("whsec_"):])
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being rotated there are two signatures; one that matches is enough.
    if not any(hmac.compare_digest(entry.encode(), expected.encode()) for entry in signatures.split(" ")):
        raise ValueError("wrong signature")


# Ids already processed. In production, use a table with the id as primary key, written in the transaction of the work.
processed = set()
lock = threading.Lock()


def process_once(message_id, event):
    """Processes a delivery once, however often it arrives. Only store it here and work later: Jeton waits at most 10 s."""
    with lock:
        if message_id in processed:
            return
        processed.add(message_id)
    customer = (event["data"].get("customer") or {}).get("source_id") or "–"
    print(f"processed {message_id}  {event['type']}  {event['event']['id']}  {customer}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isdigit() and int(length) <= LARGEST_BODY):
            self.close_connection = True
            self.answer(400, "too large, or of unknown length")
            return
        # The raw body: parsed and serialised again, it would no longer match the signature.
        body = self.rfile.read(int(length))
        try:
            check_signature(self.headers, body, SECRET)
            process_once(self.headers["webhook-id"], json.loads(body))
        except ValueError as error:
            self.answer(400, str(error))
        else:
            self.answer(204, "")

    def answer(self, status, text):
        self.send_response(status)
        if self.close_connection:
            self.send_header("connection", "close")
        if text:
            self.send_header("content-type", "text/plain")
            self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if not SECRET.startswith("whsec_"):
        sys.exit("WEBHOOK_SECRET is not set: set it to the secret of the webhook, or of `jeton listen --secret`")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}/hook", flush=True)
    server.serve_forever()
