"""Reads PDF files with a Python engine in one process. Each input line is `IN` or `IN<TAB>OUT`, each output line `ok SECONDS` or `err SECONDS`."""

import os
import sys
import time

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # Sends the output of the engine to stderr, so that stdout has only our lines.


def liteparse():
    from liteparse import LiteParse

    parser = LiteParse(ocr_enabled=False, output_format="markdown", quiet=True)
    return lambda path: parser.parse(path).text


def pymupdf4llm():
    import pymupdf4llm as engine

    return lambda path: engine.to_markdown(path, use_ocr=False, show_progress=False)


read = {"liteparse": liteparse, "pymupdf4llm": pymupdf4llm}[sys.argv[1]]()
print("ready", file=out, flush=True)
for line in sys.stdin:
    source, _, target = line.rstrip("\n").partition("\t")
    start = time.perf_counter()
    try:
        text = read(source)
        if target:
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        answer = "ok"
    except Exception:
        answer = "err"
    print(f"{answer} {time.perf_counter() - start:.4f}", file=out, flush=True)
