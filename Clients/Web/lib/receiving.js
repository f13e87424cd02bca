import { currentUserName } from './bounded.js';
import { DiagnosticCode, isGoneStatus } from './codes.js';
import { clearScreen } from './log-out.js';
import { readUnknownPushKeys } from './push-key-refresh.js';
import { PushKeySet, PushVerifier } from './push-keys.js';
import { isLocked } from './store.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * What a push asks for: a notification that is to be fetched, one that was shown or withdrawn before, a withdrawal
 * that has been carried out, a push without a usable ID, a push that is not genuine, one whose user is not known now,
 * or a locked store.
 *
 * @typedef {{kind: 'wanted', id: string} | {kind: 'settled'} | {kind: 'withdrawn'} | {kind: 'unusable'}
 *   | {kind: 'ignored', code: string} | {kind: 'unverified'} | {kind: 'locked'}} Reception
 */

/**
 * Verifies a push and notes its notification, before anything is asked.
 *
 * @param {SecurePushClient} client
 * @param {import('./push.js').IncomingPush} push
 * @param {import('./client.js').Wake} wake it begins for the user who is logged in now
 * @returns {Promise<Reception>}
 */
export async function receive(client, push, wake) {
  try {
    const { name, changes, isKnown } = await adoptUser(client);
    wake.userChanges = changes;
    if (client.configuration.pushKeys && !isKnown) return { kind: 'unverified' };
    const code = await pushFault(client, push, name, wake.deadline);
    if (code !== null) return { kind: 'ignored', code };
    const { id } = push;
    if (id === null) return { kind: 'unusable' };
    if (push.isWithdrawal) {
      await withdraw(client, id);
      return { kind: 'withdrawn' };
    }
    const { now } = client.clock;
    await resolveInDoubtClaims(client);
    const isWanted = await client.keeper.update(({ ledger }, state) => (
      state.userChanges <= changes && ledger.learn(id, now)));
    return isWanted ? { kind: 'wanted', id } : { kind: 'settled' };
  } catch (error) {
    if (!isLocked(error)) throw error;
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
  const isSigned = client.configuration.pushKeys !== null;
  const { isRemoved, isPromptOver } = await client.keeper.update((changes) => (
    { isRemoved: changes.withdraw(id, isSigned, now), isPromptOver: changes.endEmptyPrompt() }));
  if (isRemoved) await showWithdrawn(client, id);
  if (isPromptOver) await client.presenter.removePrompt();
}

/**
 * Removes what the user sees of a withdrawn notification, or puts a text in its place.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 */
export const showWithdrawn = (client, id) => client.presenter.withdraw(
  { id, localizationKey: client.configuration.texts.withdrawn });

/**
 * Removes what has expired from the screen.
 *
 * @param {SecurePushClient} client
 * @param {{id: string, at: number}[]} expiring
 */
async function removeExpired(client, expiring) {
  const { now } = client.clock;
  const ids = expiring.filter(({ at }) => at <= now).map(({ id }) => id);
  if (ids.length === 0) return;
  await client.presenter.remove(ids);
  await client.keeper.tryUpdate(null, (_, state) => {
    state.expiring = (state.expiring ?? []).filter(({ id }) => !ids.includes(id));
  });
}

/**
 * Notes the user who is logged in. Another user's notifications are removed from the screen.
 *
 * @param {SecurePushClient} client
 * @returns {Promise<{name: string | null, changes: number, isKnown: boolean}>} the user to whom the device belongs,
 *   also after the credentials have expired, and the state's `userChanges`. Not known: neither the state nor the credentials
 *   could be read
 * @throws {import('./store.js').ClientStoreError} `locked`
 */
export async function adoptUser(client) {
  // A process may have ended between a log-out and this.
  await clearScreen(client);
  const { owner, userChanges, expiring = [] } = await client.keeper.read();
  await removeExpired(client, expiring);
  /** @type {string | null} */
  let userName = null;
  let isKnown = true;
  try { userName = await currentUserName(client); } catch { isKnown = owner !== null; }
  if (userName === null || userName === owner) return { name: owner, changes: userChanges, isKnown };
  const name = userName;
  const { ids, changes } = await client.keeper.update((changes, state) => (
    { ids: changes.adopt(name), changes: state.userChanges }));
  if (ids.length > 0) {
    await client.presenter.remove(ids);
    await client.presenter.removePrompt();
  }
  return { name, changes, isKnown };
}

/**
 * Why a push is to be ignored; `null` if it is genuine, or if pushes are not signed.
 *
 * @param {SecurePushClient} client
 * @param {import('./push.js').IncomingPush} push
 * @param {string | null} owner
 * @param {number} deadline
 * @returns {Promise<string | null>}
 */
async function pushFault(client, push, owner, deadline) {
  const { pushKeys, refreshesPushKeys } = client.configuration;
  if (!pushKeys) return null;
  if (owner === null) return DiagnosticCode.badSignature;
  for (let isSecond = false; ; isSecond = true) {
    // The server may have removed a configured key, because it was stolen.
    const stored = refreshesPushKeys ? (await client.keeper.read()).pushKeys : null;
    const keys = stored ? new PushKeySet(stored) : pushKeys;
    const verifier = new PushVerifier(keys, client.limits.maxPushAge, client.crypto);
    const { now } = client.clock;
    const code = await verifier.fault(push, owner, now);
    const mayBeNewKey = code === DiagnosticCode.badSignature && verifier.mayHaveOtherKey(push, now);
    if (isSecond || !mayBeNewKey || !await readUnknownPushKeys(client, deadline)) return code;
  }
}

/**
 * Asks the presenter for the secrets that another process was about to show when it ended: those that the user sees are
 * shown, the others are fetched again.
 *
 * @param {SecurePushClient} client
 */
export async function resolveInDoubtClaims(client) {
  const { now } = client.clock;
  const state = await client.keeper.tryRead();
  const claims = state ? client.ledger(state).claimsOfOthers(client.process) : [];
  const inDoubt = claims.filter((claim) => client.claimWatch.secondsLeft(claim) === 0);
  if (inDoubt.length === 0) return;
  const displayed = (await client.presenter.displayedSecrets()) ?? new Set();
  const withdrawn = [];
  for (const { id, process } of inDoubt) {
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
 * Asks the server for the notifications that were withdrawn after this device may have been the first to read them.
 * Those that are gone are removed from the screen. The others were withdrawn from the user's other devices only: they
 * stay on the screen, or are still fetched.
 *
 * Those that are being fetched now are left to the fetch, whose answer says who has read them. One wake does this for
 * all wakes at the same time. A failure ends it until the next wake.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function confirmWithdrawals(client, deadline) {
  return client.once('confirmWithdrawals', async () => {
    // A store that cannot be written keeps an ID, so it is asked for once.
    const asked = new Set();
    for (;;) {
      const ids = (await client.keeper.tryRead())?.unconfirmed ?? [];
      const id = ids.find((candidate) => !asked.has(candidate) && !client.inFlight.has(candidate));
      if (id === undefined) return;
      asked.add(id);
      // HEAD marks nothing as read and returns no secret.
      const outcome = await client.connection.send({ method: 'HEAD', path: `api/notifications/${id}` }, deadline);
      if (outcome.kind === 'refused' && isGoneStatus(outcome.status)) {
        await endWithdrawn(client, id);
        continue;
      }
      const isUnclear = outcome.kind !== 'success';
      await client.keeper.tryUpdate(null, ({ ledger }, state) => {
        // Anybody may name an ID that this device does not know.
        if (isUnclear && ledger.get(id)) return;
        state.unconfirmed = state.unconfirmed.filter((unconfirmed) => unconfirmed !== id);
      });
      if (isUnclear) return;
    }
  });
}

/**
 * Ends a notification whose withdrawal the server has confirmed.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @returns {Promise<boolean>} whether there was a withdrawal to confirm
 */
export async function endWithdrawn(client, id) {
  const { now } = client.clock;
  const end = await client.keeper.tryUpdate(null, (changes, state) => {
    if (!state.unconfirmed.includes(id)) return null;
    changes.endWithdrawn(id, now);
    return { isPromptOver: changes.endEmptyPrompt() };
  });
  if (!end) return false;
  await showWithdrawn(client, id);
  if (end.isPromptOver) await client.presenter.removePrompt();
  return true;
}
