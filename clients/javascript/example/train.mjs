// An ordinary sender of pushes: a server that announces trains. It has no code for tests.
import { sign } from "node:crypto";
import { connect } from "node:http2";

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

export class TrainServer {
  #options;
  #session;
  #token = { text: "", time: 0 };
  #gone = new Set();

  /** `key` is the private key of the provider tokens, `ca` the certificate to trust, if it is not a public one. */
  constructor({ url = "https://api.push.apple.com", ca, key, keyId, teamId, topic }) {
    this.#options = { url, ca, key, keyId, teamId, topic };
  }

  /** Announces a train to a device, unless its token is gone. Returns the answer. */
  async announce(deviceToken, minutes, platform) {
    if (this.#gone.has(deviceToken)) return undefined;
    const answer = await this.#post(deviceToken, {
      aps: { alert: { title: `Train in ${minutes} Minutes`, body: `Platform ${platform}` }, badge: 1 }, platform });
    if (answer.status === 410 || answer.reason === "BadDeviceToken") this.#gone.add(deviceToken);
    return answer;
  }

  close() { this.#session?.close(); }

  #post(deviceToken, payload) {
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#options.url, { ca: this.#options.ca });
      this.#session.on("error", () => {}); // Each open request gets the error, too.
    }
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ":method": "POST", ":path": `/3/device/${deviceToken}`, authorization: `bearer ${this.#providerToken()}`,
        "apns-topic": this.#options.topic, "apns-push-type": "alert", "apns-expiration": "0" });
      let status, text = "";
      stream.setEncoding("utf8");
      stream.on("response", (fields) => { status = fields[":status"]; });
      stream.on("data", (data) => { text += data; });
      stream.on("error", reject);
      stream.on("close", () => status
        ? resolve({ status, ...JSON.parse(text || "{}") }) : reject(new Error("the connection ended without an answer")));
      stream.end(JSON.stringify(payload));
    });
  }

  #providerToken() {
    const now = Math.floor(Date.now() / 1000);
    if (now - this.#token.time > 2400) {
      const { key, keyId, teamId } = this.#options;
      const signed = `${base64url({ alg: "ES256", kid: keyId })}.${base64url({ iss: teamId, iat: now })}`;
      const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
      this.#token = { text: `${signed}.${signature}`, time: now };
    }
    return this.#token.text;
  }
}
