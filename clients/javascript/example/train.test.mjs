import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startGateway } from "pushgateway-test";
import { TrainServer } from "./train.mjs";

const topic = "com.example.train";
let gateway, server;

before(async () => {
  gateway = await startGateway();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  server = new TrainServer({
    url: gateway.apns, ca: readFileSync(gateway.ca), key: privateKey, keyId: "ABC1234567", teamId: "TEAM123456", topic });
});

after(async () => {
  server?.close();
  await gateway?.stop();
});

test("a train is announced", async () => {
  const device = await gateway.device({ topic });
  await server.announce(device.token, 5, 4);
  await device.expect({ title: "Train in 5 Minutes", body: /^Platform \d$/, "payload./platform": 4, presented: true });
});

test("an uninstalled app gets no more announcements", async () => {
  const device = await gateway.device({ topic });
  await device.state("unregistered");
  await server.announce(device.token, 5, 4);
  const [refused] = await device.expect({ reason: "Unregistered", refused: true });
  await server.announce(device.token, 3, 4);
  await device.expectNone({ since: refused.number, within: "200ms" });
});
