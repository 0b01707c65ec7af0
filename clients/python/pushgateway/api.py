"""The test API of a gateway, route by route (docs/reference/test-api.openapi.json), on the standard library alone."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .conditions import duration, in_query
from .failure import ExpectationFailed
from .records import Push

#: The method and the path of each route, by the name of its method in `GatewayAPI`.
ROUTES = {
    "status": ("GET", "/test/v1"),
    "openapi": ("GET", "/test/v1/openapi.json"),
    "add_device": ("POST", "/test/v1/devices"),
    "remove_device": ("DELETE", "/test/v1/devices/{token}"),
    "answer": ("POST", "/test/v1/devices/{token}/answer"),
    "set_token": ("PUT", "/test/v1/tokens/{token}"),
    "set_faults": ("PUT", "/test/v1/tokens/{token}/faults"),
    "expect": ("POST", "/test/v1/expect"),
    "list_pushes": ("GET", "/test/v1/pushes"),
    "remove_pushes": ("DELETE", "/test/v1/pushes"),
    "push": ("GET", "/test/v1/pushes/{number}"),
    "picture": ("GET", "/test/v1/pushes/{number}.svg"),
    "report": ("GET", "/test/v1/report"),
    "tests": ("GET", "/test/v1/tests"),
    "clock": ("GET", "/test/v1/clock"),
    "set_clock": ("POST", "/test/v1/clock"),
    "set_certificate": ("PUT", "/test/v1/tls"),
}

#: Seconds until a request counts as failed. An expectation takes at most 60 seconds.
LIMIT = 120


class GatewayError(Exception):
    """A request that a gateway refused, or a gateway that can't be reached."""

    def __init__(self, text: str, status: int | None = None, field: str | None = None):
        super().__init__(text)
        self.status, self.field = status, field


def _given(**members: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


class GatewayAPI:
    """The requests of the test API at an address, as `http://127.0.0.1:40002`. Safe on any thread."""

    def __init__(self, http_url: str):
        self.http_url = http_url.rstrip("/")
        parts = urlsplit(self.http_url)
        if parts.scheme != "http" or not parts.hostname:
            raise GatewayError(f"the address of the test API is {http_url!r}: expected http://HOST:PORT")
        self._host, self._port = parts.hostname, parts.port or 80

    # Requests

    def _call(self, name: str, body: Any = None, query: dict[str, Any] | None = None, **parameters: Any) -> Any:
        """Sends a request, and returns the JSON of its answer, or the text of another type."""
        method, path = ROUTES[name]
        path = path.format(**{key: quote(str(value), safe="") for key, value in parameters.items()})
        status, kind, text = self._send(method, path + ("?" + urlencode(query) if query else ""), body)
        answer: Any = json.loads(text) if text and "json" in kind else text
        if status == 417:
            raise ExpectationFailed(answer, body)
        if status >= 400:
            problem = answer if isinstance(answer, dict) else {"detail": text.strip()}
            words = problem.get("detail") or problem.get("title") or f"{method} {path}"
            raise GatewayError(f"the test gateway answered {status}: {words}", status, problem.get("field"))
        return answer

    def _send(self, method: str, target: str, body: Any) -> tuple[int, str, str]:
        # A connection for each request: any thread can send one, and no proxy of the environment is used.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=LIMIT)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, target, data, {} if data is None else {"content-type": "application/json"})
            response = connection.getresponse()
            return response.status, response.getheader("content-type", ""), response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise GatewayError(self._unreachable(error)) from error
        finally:
            connection.close()

    def _unreachable(self, error: Exception) -> str:
        return f"the test gateway at {self.http_url} can't be reached: {error or type(error).__name__}"

    # Routes

    def status(self) -> dict[str, Any]:
        """The state of the gateway: its version, whether it is strict, the numbers of its devices and pushes."""
        return self._call("status")

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the test API."""
        return self._call("openapi")

    def add_device(
        self, topic: str | None = None, *, token: str | None = None, name: str | None = None,
        preferences: dict[str, Any] | None = None, channels: list[str] | None = None,
    ) -> dict[str, Any]:
        """Adds a device, and returns its `token`, `topic`, `device` and `user`. It subscribes to `channels`, by their ids."""
        members = _given(topic=topic, token=token, name=name, preferences=preferences, channels=channels)
        return self._call("add_device", members)

    def remove_device(self, token: str) -> None:
        """Removes a device: its token answers 410 Unregistered."""
        self._call("remove_device", token=token)

    def answer(self, token: str, action: str, id: str | None = None) -> str:
        """Answers a push as its user, by default the newest, and returns the action that counts."""
        return self._call("answer", _given(action=action, id=id), token=token)["action"]

    def set_token(
        self, token: str, state: str, *, count: int | None = None, lasts: str | float | None = None,
        retry_after: int | None = None,
    ) -> None:
        """Sets the state of a token: for all pushes, for `count` pushes, or for a time.

        `retry_after` is the number of seconds in the field `retry-after` of the states `throttled` and `unavailable`.
        """
        members = _given(state=state, count=count, **{"for": duration(lasts), "retry-after": retry_after})
        self._call("set_token", members, token=token)

    def set_faults(self, token: str, faults: list[dict[str, Any]]) -> list[dict[str, str]]:
        """Sets the faults of a token, in place of its earlier faults and its state. Returns the name and the effect of each."""
        return self._call("set_faults", {"faults": faults}, token=token)["faults"]

    def expect(self, expectation: dict[str, Any]) -> dict[str, Any]:
        """Waits for pushes. `expectation` has the members of the schema `Expectation`.

        Raises `ExpectationFailed`, an `AssertionError`, with the nearest pushes.
        """
        return self._call("expect", expectation)

    def list_pushes(self, **query: Any) -> dict[str, Any]:
        """The recorded pushes, the oldest first, with `last`, the highest number of all pushes, and `dropped`."""
        return self._call("list_pushes", query=query)

    def pushes(
        self, token: str | None = None, match: dict[str, Any] | None = None, *, state: str = "any", since: int = 0,
    ) -> list[Push]:
        """The recorded pushes, the oldest first, at most 10,000."""
        query = _given(token=token, state=state, since=since, limit=10_000)
        return [Push(json) for json in self.list_pushes(**query, **in_query(match or {}))["pushes"]]

    def remove_pushes(self, token: str | None = None) -> int:
        """Removes pushes from the record, and returns their number."""
        return self._call("remove_pushes", query=_given(token=token))["removed"]

    def push(self, number: int) -> Push:
        """The push with a number."""
        return Push(self._call("push", number=number))

    def picture(self, number: int, *, theme: str = "light", size: str = "medium") -> str:
        """The alert of a push as a phone shows it, as SVG. Themes: light, dark. Sizes: small, medium, large."""
        return self._call("picture", query={"theme": theme, "size": size}, number=number)

    def report(self) -> dict[str, Any]:
        """The reaction of the sender to each refusal, and its mistakes in accepted pushes."""
        return self._call("report")

    def tests(self) -> dict[str, Any]:
        """The tests by their tokens, the last one first, with the results of their expectations."""
        return self._call("tests")

    def clock(self) -> dict[str, Any]:
        """The time `now` of the gateway, and the milliseconds `offset` by which it is ahead."""
        return self._call("clock")

    def set_clock(self, *, advance: str | float | None = None, reset: bool | None = None) -> dict[str, Any]:
        """Advances the clock by a duration, or resets it."""
        return self._call("set_clock", _given(advance=duration(advance), reset=reset))

    def set_certificate(self, certificate: str) -> None:
        """Sets the certificate of the next connections: valid, unknown-ca, expired or wrong-name."""
        self._call("set_certificate", {"certificate": certificate})
