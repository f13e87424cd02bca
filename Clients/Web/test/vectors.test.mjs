import assert from 'node:assert/strict';
import test from 'node:test';
import { DeviceKey } from '../lib/device-key.js';
import { openEnvelope } from '../lib/envelope.js';
import { SenderKeySet } from '../lib/key-set.js';
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

function usableSet(jwkSet, kind = PushKeySet) {
  try { return kind.fromJWKSet(jwkSet); } catch { return null; }
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

/** A message as its sender wrote it, without its data. */
const inContent = ({ title: Title, body: Body, link: Link, category: Category, thread: Thread, level: Level, actions }) => {
  const Actions = actions?.map(({ id: Id, title, takesText: Input }) => ({ Id, Title: title, Input })) ?? null;
  return { Title, Body, Link, Category, Thread, Level, Actions };
};

/** A device's key of a vector. */
async function deviceKey(jwk) {
  const privateKey = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits']);
  const [x, y] = [jwk.x, jwk.y].map((text) => Buffer.from(text, 'base64url'));
  return new DeviceKey(privateKey, new Uint8Array([4, ...x, ...y]), 0);
}

test('vectors: end-to-end encryption', (context) => runAll(context, load('e2e').cases, async (entry) => {
  const { recipient, device, payload, senderKeys, requiresEncryption, nowMs, notification, expect } = entry;
  const records = new Map(entry.opened.map((record) => [record.id.toLowerCase(), record.notification]));
  let opened;
  try {
    const { json, text, message, isEncrypted, id, at, expiresAt } = await openEnvelope(payload, {
      recipient, device, requiresEncryption, now: nowMs / 1000, keys: await Promise.all(entry.privateKeys.map(deviceKey)),
      senderKeys: senderKeys && (usableSet(senderKeys, SenderKeySet) ?? new SenderKeySet([])),
      remember: async (id) => (records.get(id) ?? notification) === notification,
    });
    const content = { content: json, id, at, exp: expiresAt, text, message: message && inContent(message) };
    opened = { opened: true, encrypted: isEncrypted, ...content };
  } catch (error) {
    opened = { opened: false, reason: error.code };
  }
  assert.deepEqual(opened, expect);
}));

for (const name of ['fetch-plans', 'withdrawals']) {
  test(`vectors: ${name}`, (context) => runAll(context, load(name).cases, runScenario));
}

test('vectors: hostile answers', (context) => runAll(context, load('hostile').answers, runScenario));
