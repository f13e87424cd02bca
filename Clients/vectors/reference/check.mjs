// Compares the sender of Examples/Send/encrypted.mjs with e2e.json: `node check.mjs`.

import assert from "node:assert/strict";
import { createHash, createPrivateKey, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { fingerprint, seal } from "../../../Examples/Send/encrypted.mjs";

const { cases } = JSON.parse(readFileSync(new URL("../e2e.json", import.meta.url)));
const bytes = (text) => Buffer.from(text, "base64url");
let count = 0;
for (const { name, recipient, payload, sealing } of cases) {
  if (!sealing) continue;
  const { id, at, exp, content, sender } = sealing;
  const ephemeral = Object.entries(sealing.ephemeralKeys).map(([device, { d }]) => [device, bytes(d)]);
  const random = {
    // As written: JSON.parse would change numbers and escapes.
    document: `{"id":"${id}","at":${at},${exp === null ? "" : `"exp":${exp},`}"content":${content}}`,
    contentKey: bytes(sealing.contentKey), iv: bytes(sealing.iv), ephemeralKeys: Object.fromEntries(ephemeral),
  };
  const signWith = sender && createPrivateKey({ format: "jwk", key: sender.key });
  const { sig, ...made } = seal(null, recipient, sealing.devices, { signWith, kid: sender?.from, random });
  const { sig: reference, ...expected } = JSON.parse(payload);
  assert.deepEqual(made, expected, name);
  assert.equal(sig === undefined, reference === undefined, name);
  if (sig) {
    const digest = createHash("sha256").update(bytes(made.iv)).update(bytes(made.ct)).digest("hex");
    const key = { key: createPublicKey({ format: "jwk", key: sender.key }), dsaEncoding: "ieee-p1363" };
    assert(verify("sha256", Buffer.from(`securepush-e2e-v2\n${recipient}\n${digest}\n`), key, bytes(sig)), name);
  }
  count += 1;
}
assert(count >= 100);
assert.equal(fingerprint(cases[0].privateKeys[0]).length, 39);
console.log(`e2e.json: ${count} envelopes are the same`);
