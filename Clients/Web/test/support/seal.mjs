// A sender of encrypted payloads, for tests: written from the documentation, on Node's own primitives.
import { createCipheriv, createECDH, createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const hmac = (key, ...parts) => createHmac('sha256', key).update(Buffer.concat(parts.map(Buffer.from))).digest();
const extract = (salt, suite, label, input) => hmac(salt, 'HPKE-v1', suite, label, input);
const expand = (prk, suite, label, context, length) => (
  hmac(prk, [length >> 8, length & 0xff], 'HPKE-v1', suite, label, context, [1]).subarray(0, length));

function encrypt(name, key, iv, text, aad) {
  const cipher = createCipheriv(name, key, iv).setAAD(Buffer.from(aad));
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** HPKE (RFC 9180), mode base, single shot. */
function sealHPKE(point, text, info, aad) {
  const kem = Buffer.from([...Buffer.from('KEM'), 0, 0x10]);
  const suite = Buffer.from([...Buffer.from('HPKE'), 0, 0x10, 0, 1, 0, 1]);
  const ephemeral = createECDH('prime256v1');
  const enc = ephemeral.generateKeys();
  const prk = extract('', kem, 'eae_prk', ephemeral.computeSecret(point));
  const shared = expand(prk, kem, 'shared_secret', Buffer.concat([enc, point]), 32);
  const context = Buffer.concat([[0], extract('', suite, 'psk_id_hash', ''), extract('', suite, 'info_hash', info)].map(
    (part) => Buffer.from(part)));
  const secret = extract(shared, suite, 'secret', '');
  const key = expand(secret, suite, 'key', context, 16);
  return { enc, ct: encrypt('aes-128-gcm', key, expand(secret, suite, 'base_nonce', context, 12), text, aad) };
}

/** A key of a sender, and the JWK Set with its public key. */
export function makeSender(kid = 'sender-1') {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, kid, set: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid }] } };
}

/**
 * Makes an envelope.
 *
 * @param {Record<string, Uint8Array>} devices the public keys
 * @param {object} options `raw`: the content's bytes in place of the object
 */
export function seal(devices, {
  recipient = 'alice', content = 'The code is 4711.', id = randomUUID(), at, exp = undefined, sender = null, raw = undefined,
} = {}) {
  const json = raw ?? JSON.stringify({ id, at: Math.floor(at), content, exp });
  const [contentKey, iv] = [randomBytes(32), randomBytes(12)];
  const ct = encrypt('aes-256-gcm', contentKey, iv, Buffer.from(json.padEnd(128)), recipient);
  const digest = createHash('sha256').update(iv).update(ct).digest();
  const aad = Buffer.concat([Buffer.from(recipient), Buffer.from([0]), digest]);
  const keys = Object.fromEntries(Object.entries(devices).map(([device, point]) => {
    const sealed = sealHPKE(Buffer.from(point), contentKey, 'securepush-e2e-v2', aad);
    return [device, { enc: base64url(sealed.enc), ct: base64url(sealed.ct) }];
  }));
  const envelope = { e2e: 2, keys, iv: base64url(iv), ct: base64url(ct) };
  if (!sender) return envelope;
  const text = Buffer.from(`securepush-e2e-v2\n${recipient}\n${digest.toString('hex')}\n`);
  const sig = sign('sha256', text, { key: sender.privateKey, dsaEncoding: 'ieee-p1363' });
  return { ...envelope, from: sender.kid, sig: base64url(sig) };
}
