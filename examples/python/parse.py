"""Parses files with Parsemesh and writes the Markdown of FILE.pdf to FILE.md."""

import json
import os
import sys
import time
from pathlib import Path

import requests

URL = os.environ["PARSEMESH_URL"].rstrip("/") + "/v2/parse"
HEADERS = {"Authorization": f"Bearer {os.environ['PARSEMESH_KEY']}"}
OPTIONS = {"formats": ["markdown"], "timeout": 300_000}
ATTEMPTS = 5


def parse(path: Path) -> dict:
    """Returns `data` of the response. Raises RuntimeError with the message of the server."""
    for attempt in range(1, ATTEMPTS + 1):
        with path.open("rb") as file:
            response = requests.post(
                URL,
                headers=HEADERS,
                files={"file": (path.name, file)},
                data={"options": json.dumps(OPTIONS)},
                timeout=330,
            )
        if response.ok:
            return response.json()["data"]
        if response.status_code not in (429, 503) or attempt == ATTEMPTS:
            break
        time.sleep(int(response.headers.get("Retry-After", "1")))
    body = response.json()
    raise RuntimeError(f"{path}: {body['code']}: {body['error']}")


def main() -> int:
    failed = 0
    for path in map(Path, sys.argv[1:]):
        try:
            data = parse(path)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            failed = 1
            continue
        path.with_suffix(".md").write_text(data["markdown"], encoding="utf-8")
        print(f"{path.with_suffix('.md')}: {data['metadata']['creditsUsed']} credits")
        if data.get("warning"):
            print(f"{path}: warning: {data['warning']}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
