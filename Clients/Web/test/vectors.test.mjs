import assert from 'node:assert/strict';
import test from 'node:test';
import { DeviceKey } from '../lib/device-key.js';
import { openEnvelope } from '../lib/envelope.js';
import { PushKeySet, PushVerifier } from '../lib/push-keys.js';
import { IncomingPush } from '../lib/push.js';
import { userTag } from '../lib/user-tag.js';
import { runScenario } from './simulation/scenario.mjs';
import { loadVectors as load } from './support/vectors.mjs';

/** Runs the cases, and fails with the names of the first that are wrong. */
async function runAll(context, cases, body) {
  const wrong = [];
  const skipped = {};
  for (const entry of cases) {
    try {
      const reason = await body(entry);
      if (reason) skipped[reason] = (skipped[reason] ?? 0) + 1;
    } catch (error) {
      wrong.push(`${entry.name}: ${error.message}`);
    }
  }
  const counts = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`).join(', ');
  const total = Object.values(skipped).reduce((sum, count) => sum + count, 0);
  const run = cases.length - total;
  context.diagnostic(`${run} cases, ${total} skipped${counts && ` (${counts})`}, ${wrong.length} wrong.`);
  assert.ok(run > 0);
  assert.equal(wrong.length, 0, `${wrong.length} wrong:\n${wrong.slice(0, 10).join('\n')}`);
}

function readPush({ form, push }) {
  switch (form) {
    case 'text': return IncomingPush.fromText(push);
    case 'bytes': return IncomingPush.fromBytes(new Uint8Array(Buffer.from(push, 'base64')));
    default: return null;
  }
}

function comparePush(entry) {
  const push = readPush(entry);
  if (!push) return `of form ${entry.form}`;
  const { expect } = entry;
  if (!expect.accepted) {
    assert.equal(push.isSecurePush ? (push.id === null ? 'SP-PUSH' : 'accepted') : 'foreign', expect.reason);
    return null;
  }
  const { id, timestamp, signature, isWithdrawal: withdraw } = push;
  const { accepted, ...members } = expect;
  assert.deepEqual({ id, timestamp, signature, withdraw }, members);
  return null;
}

function usableSet(jwkSet) {
  try { return PushKeySet.fromJWKSet(jwkSet); } catch { return null; }
}

test('vectors: pushes', (context) => runAll(context, load('pushes').cases, comparePush));

test('vectors: hostile pushes', (context) => runAll(context, load('hostile').pushes, comparePush));

test('vectors: signatures', (context) => runAll(context, load('signatures').cases, async (entry) => {
  const { keys, learnedKeys, user, nowMs, push: { id, timestamp, signature, withdraw }, signedText, expect } = entry;
  const push = new IncomingPush({ isSecurePush: true, id, timestamp, signature, isWithdrawal: withdraw });
  const set = usableSet(learnedKeys) ?? usableSet(keys);
  const reason = set ? await new PushVerifier(set, 28 * 86_400).fault(push, user, nowMs / 1000) : 'SP-SIGNATURE';
  assert.deepEqual({ accepted: reason === null, ...(reason ? { reason } : {}) }, expect);
  if (expect.accepted) assert.equal(PushVerifier.signedText(id, user, timestamp, withdraw), signedText);
}));

test('vectors: tags', (context) => runAll(context, load('tags').cases, async ({ user, expect }) => {
  assert.equal(await userTag(user), expect.tag);
}));

test('vectors: end-to-end encryption', (context) => runAll(context, load('e2e').cases, async (entry) => {
  const { recipient, device, privateKey, payload, expect } = entry;
  const key = privateKey && new DeviceKey(
    await crypto.subtle.importKey('jwk', privateKey, { name: 'X25519' }, false, ['deriveBits']), privateKey.x);
  let opened;
  try {
    const { json, text, isEncrypted } = await openEnvelope(payload, { recipient, device, key });
    opened = { opened: true, encrypted: isEncrypted, content: json, text };
  } catch (error) {
    opened = { opened: false, reason: error.code };
  }
  assert.deepEqual(opened, expect);
}));

for (const name of ['fetch-plans', 'withdrawals']) {
  test(`vectors: ${name}`, (context) => runAll(context, load(name).cases, runScenario));
}

test('vectors: hostile answers', (context) => runAll(context, load('hostile').answers, runScenario));
