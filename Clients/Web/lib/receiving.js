import { DiagnosticCode } from './codes.js';
import { PushKeySet, PushVerifier } from './push-keys.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * What a push asks for: a notification that is to be fetched, one that was shown or withdrawn before, a withdrawal
 * that has been carried out, a push without a usable ID, a push that is not genuine, or a store that cannot be read.
 *
 * @typedef {{kind: 'wanted', id: string} | {kind: 'settled'} | {kind: 'withdrawn'} | {kind: 'unusable'}
 *   | {kind: 'ignored', code: string} | {kind: 'locked'}} Reception
 */

/**
 * Verifies a push and notes its notification, before anything is asked.
 *
 * @param {SecurePushClient} client
 * @param {import('./push.js').IncomingPush} push
 * @returns {Promise<Reception>}
 */
export async function receive(client, push) {
  try {
    const owner = await adoptUser(client);
    const code = await pushFault(client, push, owner);
    if (code !== null) return { kind: 'ignored', code };
    const { id } = push;
    if (id === null) return { kind: 'unusable' };
    if (push.isWithdrawal) {
      await withdraw(client, id);
      return { kind: 'withdrawn' };
    }
    const { now } = client.clock;
    await resolveDoubts(client);
    const isWanted = await client.keeper.update(({ ledger }) => ledger.learn(id, now));
    return isWanted ? { kind: 'wanted', id } : { kind: 'settled' };
  } catch {
    return { kind: 'locked' };
  }
}

/**
 * Carries out a withdrawal. The prompt goes too, if nothing else waits behind it.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 */
async function withdraw(client, id) {
  const { now } = client.clock;
  const { isRemoved, isPromptOver } = await client.keeper.update((changes, state) => {
    const isRemoved = changes.withdraw(id, now);
    const isPromptOver = state.isPrompted && changes.ledger.waiting.length === 0;
    if (isPromptOver) state.isPrompted = false;
    return { isRemoved, isPromptOver };
  });
  if (isRemoved) await client.presenter.remove([id]);
  if (isPromptOver) await client.presenter.removePrompt();
}

/**
 * Notes the user who is logged in. Another user's notifications are removed from the screen.
 *
 * @param {SecurePushClient} client
 * @returns {Promise<string | null>} the user to whom the device belongs, also after the credentials have expired
 * @throws {import('./store.js').ClientStoreError} `locked`
 */
export async function adoptUser(client) {
  const { owner } = await client.keeper.read();
  const userName = await client.credentials.userName();
  if (userName === null || userName === owner) return owner;
  const strangers = await client.keeper.update((changes) => changes.adopt(userName));
  if (strangers.length > 0) {
    await client.presenter.remove(strangers);
    await client.presenter.removePrompt();
  }
  return userName;
}

/**
 * Why a push is to be ignored; `null` if it is genuine, or if pushes are not signed.
 *
 * @param {SecurePushClient} client
 * @param {import('./push.js').IncomingPush} push
 * @param {string | null} owner
 * @returns {Promise<string | null>}
 */
async function pushFault(client, push, owner) {
  const { pushKeys, refreshesPushKeys } = client.configuration;
  if (!pushKeys) return null;
  if (owner === null) return DiagnosticCode.badSignature;
  const learned = refreshesPushKeys ? (await client.keeper.read()).pushKeys : null;
  for (const keys of [pushKeys, ...(learned ? [new PushKeySet(learned)] : [])]) {
    const verifier = new PushVerifier(keys, client.limits.maxPushAge, client.crypto);
    const fault = await verifier.fault(push, owner, client.clock.now);
    if (fault !== DiagnosticCode.badSignature) return fault;
  }
  return DiagnosticCode.badSignature;
}

/**
 * Asks the presenter for the secrets that another process was about to show when it ended: those that the user sees are
 * shown, the others are fetched again.
 *
 * @param {SecurePushClient} client
 */
export async function resolveDoubts(client) {
  const { now } = client.clock;
  const state = await client.keeper.tryRead();
  const doubts = state ? client.ledger(state).doubts(client.process, now) : [];
  if (doubts.length === 0) return;
  const displayed = (await client.presenter.displayedSecrets()) ?? new Set();
  const withdrawn = [];
  for (const { id, process } of doubts) {
    const isShown = displayed.has(id);
    const end = await client.keeper.tryUpdate(null, (changes) => {
      const end = changes.ledger.settle(id, process, isShown, now);
      if (isShown && end === 'noted') changes.report(id);
      return end;
    });
    if (end === 'withdrawn') withdrawn.push(id);
  }
  if (withdrawn.length > 0) await client.presenter.remove(withdrawn);
}

/**
 * Asks the server for the notifications that were withdrawn after this device was the first to read them. Those that
 * are gone are removed from the screen; the others were withdrawn from the user's other devices only.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export async function resolveQuestions(client, deadline) {
  const ids = (await client.keeper.tryRead())?.questioned ?? [];
  const { now } = client.clock;
  for (const id of ids) {
    // HEAD marks nothing as read and returns no secret.
    const outcome = await client.connection.send({ method: 'HEAD', path: `api/notifications/${id}` }, deadline);
    const isGone = outcome.kind === 'refused' && [403, 404, 410].includes(outcome.status);
    if (outcome.kind !== 'success' && !isGone) return;
    await client.keeper.tryUpdate(null, ({ ledger }, state) => {
      state.questioned = state.questioned.filter((questioned) => questioned !== id);
      if (isGone) ledger.withdraw(id, now);
    });
    if (isGone) await client.presenter.remove([id]);
  }
}
