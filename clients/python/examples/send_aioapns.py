"""A sender with aioapns, which asks a user whether to open a door."""

import ssl
from typing import Optional

import aioapns
from aioapns.connection import APNsTLSClientProtocol


class Doors:
    def __init__(self, *, key: str, key_id: str, team_id: str, topic: str, host: Optional[str] = None, port: int = 443,
                 ca: Optional[str] = None):
        self.apns = aioapns.APNs(
            key=key, key_id=key_id, team_id=team_id, topic=topic, ssl_context=ssl.create_default_context(cafile=ca))
        if host:
            # The address is an attribute of the class of connections.
            self.apns.pool.protocol_class = type("Gateway", (APNsTLSClientProtocol,), {"APNS_SERVER": host, "APNS_PORT": port})

    async def ask(self, token: str, visitor: str) -> str:
        """Asks, and returns the identifier of the push."""
        message = {"aps": {"alert": {"title": f"Open the door for {visitor}?"}, "category": "DOOR", "sound": "default"}}
        request = aioapns.NotificationRequest(
            token, message, collapse_key="door", time_to_live=60, priority=10, push_type=aioapns.PushType.ALERT)
        result = await self.apns.send_notification(request)
        if not result.is_successful:
            raise RuntimeError(f"the push was refused: {result.status} {result.description}")
        return result.notification_id

    def close(self):
        self.apns.pool.close()
