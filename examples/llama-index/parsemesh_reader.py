"""A reader for LlamaIndex that parses files with Parsemesh."""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import requests
from llama_index.core import SimpleDirectoryReader
from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document


class ParsemeshReader(BaseReader):
    """Reads one document for each page of a PDF, and one document for any other file.

    `options` are those of POST /v2/parse, for example {"redactPII": True}.
    """

    def __init__(self, *, url: str, api_key: str, options: dict | None = None) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.options = {"parsers": [{"type": "pdf", "pages": True}], "timeout": 300_000, **(options or {})}

    def lazy_load_data(self, file: str | Path, extra_info: dict | None = None) -> Iterable[Document]:
        path = Path(file)
        with path.open("rb") as content:
            response = requests.post(
                f"{self.url}/v2/parse",
                headers={"Authorization": f"Bearer {self.api_key}"},
                files={"file": (path.name, content)},
                data={"options": json.dumps(self.options)},
                timeout=330,
            )
        if not response.ok:
            raise RuntimeError(f"{path}: {response.status_code}: {response.json()['error']}")
        data = response.json()["data"]
        metadata = {"file_name": path.name, **(extra_info or {})}
        if "pages" not in data:
            yield Document(text=data["markdown"], metadata=metadata)
            return
        for page in data["pages"]:
            yield Document(text=page["markdown"], metadata={**metadata, "page_label": str(page["pageNumber"])})


if __name__ == "__main__":
    reader = ParsemeshReader(url=os.environ["PARSEMESH_URL"], api_key=os.environ["PARSEMESH_KEY"])
    extractor = {".pdf": reader, ".docx": reader, ".pptx": reader, ".xlsx": reader, ".html": reader}
    for document in SimpleDirectoryReader(input_files=sys.argv[1:], file_extractor=extractor).load_data():
        print(document.metadata)
        print(document.text)
