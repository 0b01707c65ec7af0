"""A sender with httpx: the address of APNs, its CA and the key come from the settings of the application."""

import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import httpx
import jwt


@dataclass
class Settings:
    key_file: str
    key_id: str
    team_id: str
    topic: str
    url: str = "https://api.push.apple.com"
    ca: Optional[str] = None


class Sender:
    def __init__(self, settings: Settings):
        self.settings = settings
        self.client = httpx.Client(http2=True, base_url=settings.url, verify=ssl.create_default_context(cafile=settings.ca))
        self.renew()

    def renew(self):
        """Signs a provider token, which is valid for an hour."""
        self.provider_token = jwt.encode(
            {"iss": self.settings.team_id, "iat": int(time.time())}, Path(self.settings.key_file).read_text(), "ES256",
            headers={"kid": self.settings.key_id})

    def train_leaves(self, token: str, minutes: int, platform: int) -> bool:
        """Sends a push. False: the token is not registered, and has to be forgotten."""
        payload = {
            "aps": {
                "alert": {"title": f"Train in {minutes} Minutes", "body": f"Platform {platform}"},
                "category": "TRAIN", "interruption-level": "time-sensitive",
            },
            "url": f"https://example.com/platforms/{platform}",
        }
        answer = self._post(token, payload)
        if answer.status_code == 403 and answer.json()["reason"] == "ExpiredProviderToken":
            self.renew()
            answer = self._post(token, payload)
        if answer.status_code == 410:
            return False
        answer.raise_for_status()
        return True

    def _post(self, token: str, payload: dict) -> httpx.Response:
        headers = {
            "authorization": f"bearer {self.provider_token}", "apns-topic": self.settings.topic, "apns-push-type": "alert",
            "apns-priority": "10", "apns-expiration": str(int(time.time()) + 600),
        }
        return self.client.post(f"/3/device/{token}", json=payload, headers=headers)
