"""Writes mail messages with Python's email package, and what the same package reads from them, as one JSON object per line."""

import base64
import json
import random
import sys
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage

WORDS = ["harbour", "blåbær", "Ærø", "naïve", "日本語", "каждый", "Straße", "tide", "heron", "…", "ångström", "O'Neill"]
CHARSETS = ["utf-8", "utf-8", "iso-8859-1", "utf-8"]


def phrase(rng, count):
    return " ".join(rng.choice(WORDS) for _ in range(count))


def person(rng):
    return Address(phrase(rng, rng.randint(0, 3)), f"user{rng.randint(1, 999)}", "harbour.example")


def message(rng):
    mail = EmailMessage()
    mail["Subject"] = phrase(rng, rng.randint(1, 25))
    mail["From"] = person(rng)
    people = [person(rng) for _ in range(rng.randint(1, 5))]
    mail["To"] = people
    mail["Date"] = f"Mon, {rng.randint(1, 28)} May 2024 07:08:0{rng.randint(0, 9)} {rng.choice(['+0200', '-0730', 'GMT'])}"
    text = "\n\n".join(phrase(rng, rng.randint(2, 30)) for _ in range(rng.randint(1, 4)))
    encoding = rng.choice(["base64", "quoted-printable", "8bit"])
    mail.set_content(text, charset="utf-8", cte=encoding)
    if rng.random() < 0.5:
        mail.add_alternative("".join(f"<p>{line}</p>" for line in text.split("\n\n")), subtype="html", charset="utf-8")
    for _ in range(rng.randint(0, 3)):
        name = phrase(rng, rng.randint(1, 4)) + ".bin"
        mail.add_attachment(rng.randbytes(rng.randint(1, 500)), maintype="application", subtype="x-thing", filename=name)
    return mail


def facts(raw, written):
    mail = message_from_bytes(raw, policy=policy.default)
    body = mail.get_body(preferencelist=("plain",))
    return {
        "raw": base64.b64encode(raw).decode(),
        "subject": str(written["Subject"]),
        "from": [[a.display_name, a.addr_spec] for a in written["From"].addresses],
        "to": [[a.display_name, a.addr_spec] for a in written["To"].addresses],
        "date": mail["Date"].datetime.timestamp(),
        "text": body.get_content(),
        "attachments": [[a.get_filename(), len(a.get_content())] for a in mail.iter_attachments()],
    }


count, seed = int(sys.argv[1]), int(sys.argv[2])
for index in range(count):
    generator = random.Random(seed * 1_000_003 + index)
    chosen = generator.choice([policy.SMTP, policy.default, policy.SMTP.clone(max_line_length=60)])
    mail = message(generator)
    print(json.dumps(facts(mail.as_bytes(policy=chosen), mail)))
