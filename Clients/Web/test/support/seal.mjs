import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { seal as sealFor } from '../../../../Examples/Send/encrypted.mjs';

/** A key of a sender, and the JWK Set with its public key. */
export function makeSender(kid = 'sender-1') {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, kid, set: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid }] } };
}

/**
 * Makes an envelope for alice, as a sender does.
 *
 * @param {Record<string, object>} devices the public keys as JSON Web Keys
 */
export const seal = (devices, { content = 'The code is 4711.', at, exp = undefined, sender = null } = {}) => sealFor(
  content, 'alice', devices, {
    signWith: sender?.privateKey, kid: sender?.kid,
    // The time of the test, and not the true one.
    random: { document: JSON.stringify({ id: randomUUID(), at: Math.floor(at), exp, content }) },
  });
