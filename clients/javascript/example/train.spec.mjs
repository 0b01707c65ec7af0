import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { startGateway } from "pushgateway-test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TrainServer } from "./train.mjs";

const topic = "com.example.train";
let gateway, server;

beforeAll(async () => {
  gateway = await startGateway();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  server = new TrainServer({
    url: gateway.apns, ca: readFileSync(gateway.ca), key: privateKey, keyId: "ABC1234567", teamId: "TEAM123456", topic });
});

afterAll(async () => {
  server?.close();
  await gateway?.stop();
});

test("a train is announced", async () => {
  const device = await gateway.device({ topic });
  await server.announce(device.token, 5, 4);
  const [push] = await device.expect({ title: /^Train in \d+ Minutes$/, presented: true });
  expect(push.payload.platform).toBe(4);
});

test("an overloaded server gets no second announcement at once", async () => {
  const device = await gateway.device({ topic });
  await device.faults({ reason: "TooManyRequests", "retry-after": 30, count: 1 });
  await server.announce(device.token, 5, 4);
  const [refused] = await device.expect({ reason: "TooManyRequests", refused: true });
  expect(refused.retry_after).toBe(30);
  await device.expectNone({ since: refused.number, within: "200ms" });
});
