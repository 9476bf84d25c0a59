"""Serves markitdown over HTTP, one request at a time, so that the benchmark measures it without its start."""

import io
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote

from markitdown import MarkItDown, StreamInfo

CONVERTER = MarkItDown(enable_plugins=False)


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, "ready")

    def do_POST(self):
        extension = os.path.splitext(unquote(self.headers["X-File-Name"]))[1]
        stream = io.BytesIO(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.answer(200, CONVERTER.convert_stream(stream, stream_info=StreamInfo(extension=extension)).markdown)
        except Exception as error:
            self.answer(422, type(error).__name__)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
