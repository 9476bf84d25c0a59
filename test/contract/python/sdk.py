"""Calls the public Python SDK in every way that test/contract/sdk-python.cases.ts checks, and prints the results as JSON."""

import asyncio
import io
import json
import sys
from pathlib import Path

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import AuditMetadata, ImageParser, ParseOptions, PDFParser, RedactPIIOptions

url, key, poor_key, limited_key, folder = sys.argv[1:6]
csv = Path(folder, "boats.csv").read_bytes()
page = Path(folder, "page.html")
report = Path(folder, "report.pdf")
heavy = Path(folder, "heavy.pdf")
TIMEOUT_MS = 300_000

EVERY_OPTION = ParseOptions(
    formats=["markdown", "html", "links", "images", "summary"],
    headers={"Accept-Language": "de"},
    include_tags=["main"],
    exclude_tags=["table"],
    only_main_content=False,
    timeout=TIMEOUT_MS,
    wait_for=0,
    mobile=False,
    parsers=[PDFParser(mode="auto", max_pages=2, pages=True, blocks=True, page_markers=True), ImageParser()],
    actions=[],
    skip_tls_verification=False,
    remove_base64_images=False,
    fast_mode=False,
    block_ads=False,
    proxy="auto",
    max_age=0,
    min_age=0,
    store_in_cache=False,
    lockdown=False,
    check_prompt_injection=False,
    redact_pii=RedactPIIOptions(mode="fast", entities=["EMAIL"], replace_style="mask"),
    audit_metadata=AuditMetadata(username="anna"),
    integration="tests",
    domain_tools=False,
)
PAGED = ParseOptions(timeout=TIMEOUT_MS, parsers=[PDFParser(pages=True, blocks=True, page_markers=True)])


def described(error):
    """The parts of an SDK error that a program can read."""
    response = getattr(error, "response", None)
    headers = {} if response is None else response.headers
    return {
        "class": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "message": str(error),
        "retryAfter": headers.get("Retry-After"),
    }


def document(result):
    return result.model_dump(mode="json", exclude_none=True)


def attempt(call):
    try:
        return document(call())
    except Exception as error:
        return described(error)


async def attempt_async(call):
    try:
        return document(await call)
    except Exception as error:
        return described(error)


def first_refusal(client):
    """Sends requests that cost nothing until the rate limit of the key refuses one."""
    for _ in range(200):
        result = attempt(lambda: client.parse(b"MZ", filename="setup.exe"))
        if result.get("status") != 400:
            return result
    return {}


def sync_results():
    client = Firecrawl(api_key=key, api_url=url)
    poor = Firecrawl(api_key=poor_key, api_url=url)
    return {
        "bytes": attempt(lambda: client.parse(csv, filename="Größe 文件 “tide”.csv")),
        "path": attempt(lambda: client.parse(str(report), options=PAGED)),
        "stream": attempt(lambda: client.parse(io.BytesIO(csv), filename="boats.csv", content_type="text/csv")),
        "options": attempt(lambda: client.parse(page, options=EVERY_OPTION)),
        "formats": [item.model_dump(mode="json") for item in client.get_parse_formats()],
        "credits": client.get_credit_usage().model_dump(mode="json"),
        "concurrency": client.get_concurrency().max_concurrency,
        "heavy": attempt(lambda: client.parse(heavy, options=ParseOptions(timeout=TIMEOUT_MS))),
        "tooLarge": attempt(lambda: client.parse(heavy.read_bytes() + b"\n", filename="heavy.pdf")),
        "unsupported": attempt(lambda: client.parse(b"MZ", filename="setup.exe")),
        "invalid": attempt(lambda: client.parse(csv, filename="a.csv", options=ParseOptions(timeout=TIMEOUT_MS + 1))),
        "wrongKey": attempt(lambda: Firecrawl(api_key="fc-not-a-key", api_url=url).parse(csv, filename="a.csv")),
        "charged": attempt(lambda: poor.parse(csv, filename="a.csv")),
        "noCredits": attempt(lambda: poor.parse(csv, filename="a.csv")),
        "corrupt": attempt(lambda: client.parse(b"%PDF-1.7\nbroken", filename="broken.pdf")),
        "rateLimited": first_refusal(Firecrawl(api_key=limited_key, api_url=url)),
    }


async def async_results():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    calls = {
        "bytes": client.parse(csv, filename="Größe 文件 “tide”.csv"),
        "path": client.parse(report, options=PAGED),
        "options": client.parse(page, options=EVERY_OPTION),
        "unsupported": client.parse(b"MZ", filename="setup.exe"),
        "corrupt": client.parse(b"%PDF-1.7\nbroken", filename="broken.pdf"),
        "wrongKey": AsyncFirecrawl(api_key="fc-not-a-key", api_url=url).parse(csv, filename="a.csv"),
    }
    results = await asyncio.gather(*(attempt_async(call) for call in calls.values()))
    return dict(zip(calls, results))


print(json.dumps({"sync": sync_results(), "async": asyncio.run(async_results())}))
