"""Provider tokens (JWT, ES256) in every form that senders are known to use (reference §4.3)."""

import base64
import json
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def segment(data: bytes, *, alphabet="url", padded=False) -> str:
    text = (base64.urlsafe_b64encode if alphabet == "url" else base64.b64encode)(data).decode()
    return text if padded else text.rstrip("=")


class Key:
    """A team's key, as a sender holds it."""

    def __init__(self, path, key_id: str, team_id: str):
        self.path, self.key_id, self.team_id = str(path), key_id, team_id
        self.private = serialization.load_pem_private_key(Path(path).read_bytes(), None)

    def token(
        self, *, issued=None, header=None, claims=None, signature="raw", alphabet="url", padded=False,
        dumps=json.dumps, flip=None,
    ) -> str:
        """A token; `header` and `claims` add to or replace the members, `flip` turns one bit of the signature."""
        issued = int(time.time()) if issued is None else issued
        head = {"alg": "ES256", "kid": self.key_id} | (header or {})
        body = {"iss": self.team_id, "iat": issued} | (claims or {})
        encode = lambda data: segment(data, alphabet=alphabet, padded=padded)
        signed = encode(dumps(head).encode()) + "." + encode(dumps(body).encode())
        return signed + "." + encode(self.sign(signed.encode(), signature, flip))

    def sign(self, data: bytes, form: str, flip=None) -> bytes:
        # What pushok takes for ES512: SHA-512 by this key, and halves of 66 bytes.
        is_long = form == "es512"
        der = self.private.sign(data, ec.ECDSA(hashes.SHA512() if is_long else hashes.SHA256()))
        r, s = decode_dss_signature(der)
        size = 66 if is_long else 32
        raw = r.to_bytes(size, "big") + s.to_bytes(size, "big")
        if flip is not None:
            raw = bytearray(raw)
            raw[flip // 8] ^= 1 << flip % 8
            return bytes(raw)
        return der if form == "der" else raw

    def bearer(self, **form) -> str:
        return "bearer " + self.token(**form)
