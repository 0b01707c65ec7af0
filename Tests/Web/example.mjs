// The example of RFC 8291, appendix A, for an endpoint of an app.

const { base64url } = await import(new URL("../../Sources/CWebPhone/phone/webpush.js", import.meta.url));

export const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64url"));

export const example = {
  body: "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  publicKey: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  privateKey: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", auth: "BTBZMqHH6r4Tts7J_aSIgg",
  text: "When I grow up, I want to be a watermelon",
};

export async function exampleKeys() {
  const point = bytes(example.publicKey);
  const jwk = { kty: "EC", crv: "P-256", x: base64url(point.slice(1, 33)), y: base64url(point.slice(33)), d: example.privateKey };
  const privateKey = await crypto.subtle.importKey("jwk", jwk, { name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
  return { app: "com.example.news", privateKey, publicKey: point, auth: bytes(example.auth) };
}

/** Encrypts a text for the keys of an endpoint (RFC 8291), with a new key of its sender. */
export async function seal(text, { publicKey, auth }) {
  const { subtle } = crypto;
  const curve = { name: "ECDH", namedCurve: "P-256" };
  const derived = async (secret, salt, info, size) => {
    const key = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
    return new Uint8Array(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, size * 8));
  };
  const own = await subtle.generateKey(curve, false, ["deriveBits"]);
  const sender = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
  const receiver = await subtle.importKey("raw", publicKey, curve, false, []);
  const shared = await subtle.deriveBits({ name: "ECDH", public: receiver }, own.privateKey, 256);
  const input = await derived(shared, auth, Buffer.concat([Buffer.from("WebPush: info\0"), publicKey, sender]), 32);
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const key = await subtle.importKey("raw", await derived(input, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16), "AES-GCM", false, ["encrypt"]);
  const iv = await derived(input, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const record = new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, key, Buffer.concat([Buffer.from(text), Buffer.of(2)])));
  return Uint8Array.from([...salt, 0, 0, 16, 0, 65, ...sender, ...record]);
}
