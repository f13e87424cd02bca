// Encrypts a payload for the devices of a recipient, end to end: envelope 2 of docs/reference/e2e-envelope.md.
//
// Needs Node 18 or later, and nothing else. Copy this file into your program.

import {
  createCipheriv, createECDH, createHash, createHmac, createPublicKey, randomBytes, randomUUID, sign,
} from "node:crypto";

const INFO = "securepush-e2e-v2";
// RFC 9180, section 7: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
const KEM = Buffer.from([0x4b, 0x45, 0x4d, 0x00, 0x10]);
const SUITE = Buffer.from([0x48, 0x50, 0x4b, 0x45, 0x00, 0x10, 0x00, 0x01, 0x00, 0x01]);

const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const b64 = (data) => Buffer.from(data).toString("base64url");
const sha256 = (data) => createHash("sha256").update(data).digest();
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();
const extract = (suite, salt, label, material) => hmac(salt, bytes("HPKE-v1", suite, label, material));
const expand = (suite, key, label, info, length) =>
  hmac(key, bytes([length >> 8, length & 255], "HPKE-v1", suite, label, info, [1])).subarray(0, length);

function gcm(key, iv, text, aad) {
  const cipher = createCipheriv(key.length === 16 ? "aes-128-gcm" : "aes-256-gcm", key, iv).setAAD(bytes(aad));
  return bytes(cipher.update(text), cipher.final(), cipher.getAuthTag());
}

/** The 65 bytes of a JSON Web Key, such as a `Key` of GET /api/recipients/NAME/keys. Throws for another kind of key. */
function point({ kty, crv, x, y, d }) {
  if (kty !== "EC" || crv !== "P-256" || d !== undefined) throw new Error("not a public key of P-256");
  createPublicKey({ format: "jwk", key: { kty, crv, x, y } }); // throws for a point that is not on the curve
  return bytes([4], Buffer.from(x, "base64url"), Buffer.from(y, "base64url"));
}

/** RFC 7638: the `kid` of a key that has none. */
export const thumbprint = ({ crv, kty, x, y }) => sha256(JSON.stringify({ crv, kty, x, y }));

/** The text that a person compares with the one on the device's screen. */
export const fingerprint = (jwk) => thumbprint(jwk).subarray(0, 16).toString("hex").match(/.{4}/g).join(" ");

/** Seals the content key for one device: HPKE, mode base, one message (RFC 9180, sections 4.1, 5.1 and 5.2). */
function sealKey(contentKey, recipient, aad, secret) {
  const ecdh = createECDH("prime256v1");
  if (secret) ecdh.setPrivateKey(secret); else ecdh.generateKeys();
  const enc = ecdh.getPublicKey();
  const prk = extract(KEM, "", "eae_prk", ecdh.computeSecret(recipient));
  const shared = expand(KEM, prk, "shared_secret", bytes(enc, recipient), 32);
  const context = bytes([0], extract(SUITE, "", "psk_id_hash", ""), extract(SUITE, "", "info_hash", INFO));
  const root = extract(SUITE, shared, "secret", "");
  const nonce = expand(SUITE, root, "base_nonce", context, 12);
  return { enc: b64(enc), ct: b64(gcm(expand(SUITE, root, "key", context, 16), nonce, contentKey, aad)) };
}

function pad(text) {
  const size = [128, 256, 512].find((step) => text.length <= step) ?? Math.ceil(text.length / 1024) * 1024;
  return bytes(text, Buffer.alloc(size - text.length, " "));
}

/**
 * Makes the `Payload` of a notification.
 *
 * @param content a text, or a message such as {Title: "Login", Body: "The code is 4711."}
 * @param recipient the `Recipient` of the notification
 * @param devices public keys as JSON Web Keys, by `DeviceId`
 * @param options `expires` in seconds since 1970; `signWith`, a private key (PEM or KeyObject) whose public half is
 *   among the apps' `senderKeys`, with its `kid`. `random` is for the test vectors alone: never use a value twice.
 */
export function seal(content, recipient, devices, { expires, signWith, kid, random = {} } = {}) {
  const document = { id: randomUUID(), at: Math.floor(Date.now() / 1000), exp: expires, content };
  const [contentKey, iv] = [random.contentKey ?? randomBytes(32), random.iv ?? randomBytes(12)];
  const ct = gcm(contentKey, iv, pad(bytes(random.document ?? JSON.stringify(document))), recipient);
  const digest = sha256(bytes(iv, ct));
  const aad = bytes(recipient, [0], digest);
  const keys = {};
  for (const device of Object.keys(devices).sort()) {
    keys[device] = sealKey(contentKey, point(devices[device]), aad, random.ephemeralKeys?.[device]);
  }
  const envelope = { e2e: 2, keys, iv: b64(iv), ct: b64(ct) };
  if (signWith) {
    const text = `${INFO}\n${recipient}\n${digest.toString("hex")}\n`;
    envelope.from = kid ?? b64(thumbprint(createPublicKey(signWith).export({ format: "jwk" })));
    envelope.sig = b64(sign("sha256", Buffer.from(text), { key: signWith, dsaEncoding: "ieee-p1363" }));
  }
  return envelope;
}
