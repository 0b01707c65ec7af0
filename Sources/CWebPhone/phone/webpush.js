// Web Push endpoints of this device: their keys, which stay in this browser, and the decryption of their messages (RFC 8291, 8188).

const { subtle } = globalThis.crypto;
const curve = { name: "ECDH", namedCurve: "P-256" };

/** The size of salt, record size, size of the key, and key; and the smallest record: a tag and a delimiter. */
const [headSize, leastRecord] = [86, 18];

/** The text of the alert for a message without content. */
const emptyText = "New message";

/** Returns bytes in base64url. */
export const base64url = (list) => btoa(String.fromCharCode(...new Uint8Array(list))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Returns the bytes of a text in base64url; null for another text. */
function bytesOf(value) {
  try {
    return Uint8Array.from(atob(value.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}

const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...(typeof part === "string" ? new TextEncoder().encode(part) : part)]));

/** Returns the tag of an endpoint: the beginning of the hash of its id. */
export async function tagOf(id) {
  const hash = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(id)));
  return [...hash.slice(0, 8)].map((one) => one.toString(16).padStart(2, "0")).join("");
}

// The decryption

async function derived(secret, salt, info, size) {
  const key = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, size * 8));
}

/** Decrypts a message with the keys of an endpoint: {privateKey, publicKey, auth}. Returns null if it is for other keys. */
export async function decrypt(content, { privateKey, publicKey, auth }) {
  if (content.length < headSize + leastRecord - 1 || content[20] !== 65 || content[21] !== 4) return null;
  const [salt, sender, record] = [content.slice(0, 16), content.slice(21, headSize), content.slice(headSize)];
  const size = new DataView(content.buffer, content.byteOffset).getUint32(16);
  if (size < leastRecord || record.length > size) return null;
  try {
    const shared = await subtle.deriveBits({ name: "ECDH", public: await subtle.importKey("raw", sender, curve, false, []) }, privateKey, 256);
    const input = await derived(shared, auth, joined("WebPush: info\0", publicKey, sender), 32);
    const key = await subtle.importKey("raw", await derived(input, salt, joined("Content-Encoding: aes128gcm\0"), 16), "AES-GCM", false, ["decrypt"]);
    const iv = await derived(input, salt, joined("Content-Encoding: nonce\0"), 12);
    const plain = new Uint8Array(await subtle.decrypt({ name: "AES-GCM", iv }, key, record));
    // Padding is zeros after the delimiter 2.
    let end = plain.length - 1;
    while (end >= 0 && plain[end] === 0) end -= 1;
    return plain[end] === 2 ? plain.slice(0, end) : null;
  } catch {
    return null;
  }
}

// The decrypted message

const text = (value) => (typeof value === "string" && value ? value : null);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isLink = (value) => typeof value === "string" && /^https?:\/\/[\x21-\x7e]+$/.test(value);
const isBadge = (value) => Number.isSafeInteger(value) && value >= 0;

/** Reads a message: declarative, JSON with the usual members, or a text. Returns null if it is not UTF-8. */
export function read(plain) {
  let words;
  try {
    words = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain);
  } catch {
    return null;
  }
  let root = null;
  try { root = JSON.parse(words); } catch { root = null; }
  const found = isObject(root) ? members(root) : null;
  return found ?? { title: null, body: words || emptyText, link: null, badge: null, isSilent: false };
}

function members(root) {
  const source = isObject(root.notification) ? root.notification : root.web_push === 8030 ? {} : root;
  const options = isObject(source.options) ? source.options : {};
  const data = [source.data, options.data].map((one) => (isObject(one) ? one.url : null));
  const badge = [source.app_badge, root.app_badge].find((one) => Number.isSafeInteger(one)) ?? null;
  const body = [source.body, options.body, source.message].find((one) => typeof one === "string");
  const found = {
    title: text(source.title), body: text(body), link: [source.navigate, source.url, source.link, ...data].find(isLink) ?? null, badge, isSilent: source.silent === true,
  };
  return found.title !== null || found.body !== null || badge !== null ? found : null;
}

/** Returns true if the preferences allow the badges of an app; false before the gateway has sent them. */
function allowsBadge(preferences, topic) {
  const app = preferences?.apps?.[topic] ?? {};
  const isOn = (value) => value ?? true;
  return Object.keys(preferences ?? {}).length > 0 && [preferences.notifications, preferences.badge, app.notifications, app.badge].every(isOn);
}

/**
 * Returns the line of a push with a decrypted message in place of the encrypted one. The gateway has decided without the text: parts
 * that it removed stay removed, and the badge follows the preferences.
 */
export function opened(line, message, preferences) {
  const { presentation: asked = {}, payload, ...rest } = line;
  const { title, body, link, badge, isSilent } = message;
  const hasAlert = title !== null || body !== null;
  const hasSound = typeof payload.aps?.sound === "string" && !isSilent && hasAlert;
  const texts = (alert) => ({ ...alert, title: title ?? "", subtitle: "", body: body ?? "" });
  const presentation = {};
  if (isBadge(badge) && allowsBadge(preferences, line.topic)) presentation.badge = badge;
  if (hasSound && typeof asked.sound === "string") presentation.sound = "default";
  if (hasAlert && asked.alert) presentation.alert = texts(asked.alert);
  // The gateway writes the member in British spelling.
  const center = asked.centre ?? asked.center;
  if (hasAlert && center) Object.assign(presentation, { centre: texts(center) }, asked.held ? { held: asked.held } : {}, asked.budget === undefined ? {} : { budget: asked.budget });
  const aps = { "interruption-level": payload.aps?.["interruption-level"] ?? "active" };
  if (hasAlert) aps.alert = { ...(title === null ? {} : { title }), ...(body === null ? {} : { body }) };
  if (badge !== null) aps.badge = badge;
  if (hasSound) aps.sound = "default";
  // The payload is the last member, as in each line of the gateway.
  return { ...rest, presentation, payload: { aps, ...(link ? { url: link } : {}) } };
}

/**
 * Opens the message of a line. Returns {line, data}, unchanged if it is not an encrypted message, or if this browser does not have
 * its keys: the alert then has the text of the gateway.
 */
export async function open(entry, preferences, find = keysOf) {
  const { line } = entry;
  const part = line.type === "push" && isObject(line.payload) ? line.payload.web_push : null;
  if (!isObject(part) || typeof part.endpoint !== "string" || typeof part.content !== "string") return entry;
  const keys = await find(part.endpoint).catch(() => null);
  const content = keys && keys.app === line.topic ? bytesOf(part.content) : null;
  const plain = content && await decrypt(content, keys);
  const message = plain && read(plain);
  if (!message) return entry;
  const plainLine = opened(line, message, preferences);
  return { line: plainLine, data: JSON.stringify(plainLine) };
}

// The keys, in a database of their own

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function withKeys(body) {
  const request = indexedDB.open("phone-endpoints", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("keys", { keyPath: "tag" });
  const database = await done(request);
  try {
    const transaction = database.transaction("keys", "readwrite", { durability: "strict" });
    const isOver = new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    isOver.catch(() => {});
    const result = await body(transaction.objectStore("keys"));
    await isOver;
    return result;
  } finally {
    database.close();
  }
}

export const keysOf = (tag) => withKeys((store) => done(store.get(tag)));
export const allKeys = () => withKeys((store) => done(store.getAll()));
const saveKeys = (keys) => withKeys((store) => done(store.put(keys)));
const removeKeys = (tag) => withKeys((store) => done(store.delete(tag)));

/** Deletes the keys of all endpoints, when the device is signed out. */
export const forgetKeys = () => indexedDB.deleteDatabase("phone-endpoints");

/**
 * Makes an endpoint with new keys. Scripts can't read the private key. Returns the subscription for a Web Push library; its address
 * and keys are shown only here.
 */
export async function addEndpoint(gateway, { name, app, origin, vapid }) {
  const pair = await subtle.generateKey(curve, false, ["deriveBits"]);
  const publicKey = new Uint8Array(await subtle.exportKey("raw", pair.publicKey));
  const auth = crypto.getRandomValues(new Uint8Array(16));
  const made = await gateway.addEndpoint({ name, app, origin, ...(vapid ? { vapid } : {}) });
  try {
    await saveKeys({ tag: await tagOf(made.id), name, app, privateKey: pair.privateKey, publicKey, auth });
  } catch (error) {
    // The messages of an endpoint can't be decrypted without its keys.
    await gateway.removeEndpoint(name).catch(() => {});
    throw error;
  }
  return { endpoint: made.url, keys: { p256dh: base64url(publicKey), auth: base64url(auth) } };
}

/** Removes an endpoint and its keys: its senders get 410 from now on. */
export async function removeEndpoint(gateway, name) {
  await gateway.removeEndpoint(name);
  for (const one of await allKeys()) if (one.name === name) await removeKeys(one.tag);
}
