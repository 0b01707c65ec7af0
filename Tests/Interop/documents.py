"""The published descriptions of the device protocol: the lines and the answers of a gateway are validated by them."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

REFERENCE = Path(__file__).parents[2] / "docs/reference"
STREAM = json.loads((REFERENCE / "device-stream.schema.json").read_text())
API = json.loads((REFERENCE / "device-api.openapi.json").read_text())


def _lines(root):
    """A validator for each type of line of one direction."""
    names = [one["$ref"].rsplit("/", 1)[1] for one in STREAM["$defs"][root]["oneOf"]]
    kinds = {}
    for name in names:
        kinds.setdefault(STREAM["$defs"][name]["properties"]["type"]["const"], []).append({"$ref": f"#/$defs/{name}"})
    return {kind: Draft202012Validator({"anyOf": refs, "$defs": STREAM["$defs"]}) for kind, refs in kinds.items()}


FROM_GATEWAY, FROM_DEVICE = _lines("fromGateway"), _lines("fromDevice")


def check_line(line, kinds=FROM_GATEWAY):
    """Refuses a line that the schema does not describe."""
    assert line["type"] in kinds, f"device-stream.schema.json lacks the type of {line}"
    kinds[line["type"]].validate(line)


def check_answer(method, path, status, media_type, body):
    """Refuses an answer to a request, of this template of a path, that the OpenAPI document does not describe."""
    answers = API["paths"][path][method.lower()]["responses"]
    answer = answers.get(str(status)) or answers["default"]
    assert str(status) in answers or status >= 400, f"{method} {path} has the undocumented status {status}"
    content = answer.get("content")
    # No line at all is an empty body.
    if content is None or not body and "application/x-ndjson" in content:
        assert not body
        return
    assert media_type in content, f"{method} {path} answers with {media_type}"
    value = json.loads(body) if media_type.endswith("json") else body.decode()
    schema = content[media_type]["schema"]
    Draft202012Validator(schema | {"components": API["components"]}).validate(value)
