"""A document loader for LangChain that parses files with Parsemesh."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import requests
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document


class ParsemeshLoader(BaseLoader):
    """Loads one document for each page of a PDF, and one document for any other file.

    `options` are those of POST /v2/parse, for example {"redactPII": True}.
    """

    def __init__(self, path: str | Path, *, url: str, api_key: str, options: dict | None = None) -> None:
        self.path = Path(path)
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.options = {"parsers": [{"type": "pdf", "pages": True}], "timeout": 300_000, **(options or {})}

    def lazy_load(self) -> Iterator[Document]:
        with self.path.open("rb") as file:
            response = requests.post(
                f"{self.url}/v2/parse",
                headers={"Authorization": f"Bearer {self.api_key}"},
                files={"file": (self.path.name, file)},
                data={"options": json.dumps(self.options)},
                timeout=330,
            )
        if not response.ok:
            raise RuntimeError(f"{self.path}: {response.status_code}: {response.json()['error']}")
        data = response.json()["data"]
        metadata = {"source": str(self.path), "title": data["metadata"].get("title", self.path.name)}
        if "pages" not in data:
            yield Document(page_content=data["markdown"], metadata=metadata)
            return
        total = data["metadata"]["totalPages"]
        for page in data["pages"]:
            place = {"page": page["pageNumber"] - 1, "total_pages": total}
            yield Document(page_content=page["markdown"], metadata={**metadata, **place})


if __name__ == "__main__":
    loader = ParsemeshLoader(sys.argv[1], url=os.environ["PARSEMESH_URL"], api_key=os.environ["PARSEMESH_KEY"])
    for document in loader.lazy_load():
        print(document.metadata)
        print(document.page_content)
