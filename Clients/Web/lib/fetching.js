import { readSecretAnswer } from './answers.js';
import { DiagnosticCode, isGoneStatus, SecurePushFailure } from './codes.js';
import { textDigest } from './device-digest.js';
import { stricter } from './display.js';
import { maxAge, openPayload } from './envelope.js';
import { endWithdrawn, resolveInDoubtClaims, showWithdrawn } from './receiving.js';
import { wakeReport } from './report.js';
import { isLocked } from './store.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./client.js').Wake} Wake
 * @typedef {import('./answers.js').SecretNotification} SecretNotification
 * @typedef {import('./answers.js').FetchedNotification} FetchedNotification
 * @typedef {import('./state.js').FetchRequest} FetchRequest
 * @typedef {import('./report.js').WakeReport} WakeReport
 */

/**
 * The result of a fetch and of the claim of the right to show the secret.
 *
 * - `secret`: the caller shows it by {@link finish}.
 * - `settled`: it was shown or withdrawn, another wake or process is about to show it, or the user has changed.
 * - `failed`: the fetch failed. `isFinal`: it is not fetched again. `isGone`: the server does not give it to this user.
 *
 * @typedef {{kind: 'secret', secret: SecretNotification, unread: number | null} | {kind: 'settled'}
 *   | {kind: 'failed', code: string, isFinal: boolean, isGone: boolean} | {kind: 'loggedOut', code: string}
 *   | {kind: 'locked'}} Acquisition
 */

/**
 * Fetches a notification of a push and shows it, or the generic text, or the prompt.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {Wake} wake
 * @returns {Promise<WakeReport>}
 */
export async function fetchAndShow(client, id, wake) {
  const acquisition = await acquire(client, id, wake, wake.deadline);
  const report = await finish(client, acquisition, id, wake);
  // The secret comes first. A browser may never finish setting the badge.
  if (acquisition.kind === 'secret' && acquisition.unread !== null) await client.setBadge(acquisition.unread);
  return report;
}

/**
 * Fetches a secret and claims it. A claimed secret stays in flight until {@link finish}.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {Wake} wake
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
export async function acquire(client, id, wake, deadline) {
  const acquisition = await inFlight(client, id, () => fetchSecret(client, id, wake, deadline));
  if (acquisition.kind === 'secret') return acquisition;
  // A failure is not shown after the user has changed.
  return await client.isCurrent(wake) ? acquisition : { kind: 'settled' };
}

/**
 * Claims a secret that has come with others. A claimed secret stays in flight until {@link finish}.
 *
 * @param {SecurePushClient} client
 * @param {FetchedNotification} secret
 * @param {FetchRequest} request
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
export const acquireFetched = (client, secret, request, deadline) => (
  inFlight(client, secret.id, () => openAndClaim(client, secret, null, request, deadline)));

/**
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {() => Promise<Acquisition>} work
 * @returns {Promise<Acquisition>}
 */
async function inFlight(client, id, work) {
  if (client.inFlight.has(id)) return { kind: 'settled' };
  client.inFlight.add(id);
  const acquisition = await work();
  if (acquisition.kind !== 'secret') client.inFlight.delete(id);
  return acquisition;
}

/**
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {Wake} wake
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
async function fetchSecret(client, id, wake, deadline) {
  const request = await client.keeper.tryUpdate(null, (changes) => changes.request(id));
  if (!request) return { kind: 'locked' };
  if (request.userChanges > wake.userChanges) {
    await forgetRequests(client, new Map([[id, request]]));
    return { kind: 'settled' };
  }
  const call = { path: `api/notifications/${id}`, query: /** @type {[string, string][]} */ ([['include', 'unread']]) };
  const { outcome, lost } = await client.connection.sendCounting(call, deadline);
  if (lost === 0 && outcome.kind !== 'success') await forgetRequests(client, new Map([[id, request]]));
  if (outcome.kind === 'success') {
    try {
      const { secret, unread } = readSecretAnswer(outcome.body, id);
      return await openAndClaim(client, secret, unread, repeated(request, lost), deadline);
    } catch (error) {
      return failed(error instanceof SecurePushFailure ? error.code : DiagnosticCode.malformedAnswer);
    }
  }
  if (outcome.kind !== 'refused') return outcome.kind === 'failed' ? failed(outcome.code) : outcome;
  const isGone = isGoneStatus(outcome.status);
  // This answer confirms or refutes a withdrawal that waits for the server.
  if (isGone && await endWithdrawn(client, id)) return { kind: 'settled' };
  return { kind: 'failed', code: DiagnosticCode.status(outcome.status), isFinal: isGone, isGone };
}

/**
 * A request of which tries were lost.
 *
 * @param {FetchRequest} request
 * @param {number} lost
 * @returns {FetchRequest}
 */
export const repeated = (request, lost) => (lost > 0 ? { ...request, isRepeated: true } : request);

/**
 * Notes that the server has marked nothing as read for requests.
 *
 * @param {SecurePushClient} client
 * @param {Map<string, FetchRequest>} requests
 */
export async function forgetRequests(client, requests) {
  if (requests.size === 0) return;
  await client.keeper.tryUpdate(null, (changes) => {
    for (const [id, request] of requests) changes.unrequest(id, request);
  });
}

/**
 * Decrypts and claims a secret.
 *
 * @param {SecurePushClient} client
 * @param {FetchedNotification} fetched
 * @param {number | null} unread
 * @param {FetchRequest} request
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
async function openAndClaim(client, fetched, unread, request, deadline) {
  try {
    const secret = await decrypt(client, fetched);
    const claimed = await claim(client, secret, request, deadline);
    return claimed === 'granted' ? { kind: 'secret', secret, unread } : { kind: claimed };
  } catch (error) {
    if (isLocked(error)) return { kind: 'locked' };
    // A key that the store cannot read now is there at the next wake.
    if (!(error instanceof SecurePushFailure)) return failed(DiagnosticCode.noKey);
    return close(client, fetched, error.code, request, deadline);
  }
}

/**
 * Notes that this device has read a secret that it will never open. So the withdrawal that follows when the first of
 * the user's devices has read it does not remove the generic text of that device.
 *
 * @param {SecurePushClient} client
 * @param {FetchedNotification} secret
 * @param {string} code
 * @param {FetchRequest} request
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
async function close(client, secret, code, request, deadline) {
  const claimed = await claim(client, secret, request, deadline);
  if (claimed !== 'granted') return { kind: claimed };
  const { now } = client.clock;
  const end = await client.keeper.tryUpdate(null, ({ ledger }) => ledger.settle(secret.id, client.process, false, now));
  if (end === null) return { kind: 'locked' };
  return end === 'noted' ? failed(code, true) : { kind: 'settled' };
}

/**
 * Claims a secret, and waits for another process that has claimed it.
 *
 * @param {SecurePushClient} client
 * @param {FetchedNotification} secret
 * @param {FetchRequest} request
 * @param {number} deadline
 * @returns {Promise<'granted' | 'settled' | 'locked'>}
 */
async function claim(client, secret, request, deadline) {
  const isSigned = client.configuration.pushKeys !== null;
  for (;;) {
    const { now } = client.clock;
    const claimed = await client.keeper.tryUpdate(null, (changes) => (
      changes.claim(secret, request, client.process, isSigned, now)));
    if (!claimed) return 'locked';
    if (claimed.kind === 'granted') return 'granted';
    if (claimed.kind === 'withdrawn') await showWithdrawn(client, secret.id);
    if (claimed.kind !== 'held') return 'settled';
    const seconds = client.claimWatch.secondsLeft(claimed.by);
    if (client.clock.uptime + seconds >= deadline) return 'settled';
    // If the other process dies now, this one shows the secret.
    if (seconds > 0) await client.clock.sleep(seconds);
    else await resolveInDoubtClaims(client);
  }
}

/**
 * Reads what a notification shows, and opens it if it is encrypted. An envelope that was opened under another notification
 * is refused: whoever has the server could show it again.
 *
 * @param {SecurePushClient} client
 * @param {FetchedNotification} fetched
 * @returns {Promise<SecretNotification>}
 * @throws {SecurePushFailure} why this device will never open it
 * @throws {import('./store.js').ClientStoreError} if the keys cannot be read now, or if it cannot be remembered
 */
export async function decrypt(client, { id, json: payload, wasRead, ...fetched }) {
  const { clock: { now }, configuration: { senderKeys, requiresEncryption, ...configuration }, crypto, store } = client;
  const { json, text, message, isEncrypted, ...content } = await openPayload(payload, async () => {
    const keys = await store.deviceKeys();
    const { owner, registration } = await client.keeper.read();
    return { recipient: owner ?? '', device: registration.installationID, keys };
  }, {
    senderKeys, requiresEncryption, now, crypto,
    remember: async (envelope, at) => store.rememberEnvelope(
      { id: envelope, notification: await textDigest(crypto, id), at, expired: now - maxAge }),
  });
  const expiresAt = Math.min(content.expiresAt ?? Infinity, fetched.expiresAt ?? Infinity);
  if (expiresAt <= now) throw new SecurePushFailure(DiagnosticCode.expired);
  const display = text === null ? 'app' : stricter(fetched.display, configuration.display);
  return {
    id, text, message, json, isEncrypted, wasRead, display, expiresAt: Number.isFinite(expiresAt) ? expiresAt : null,
  };
}

/**
 * @param {string} code
 * @param {boolean} [isFinal]
 * @returns {Acquisition}
 */
const failed = (code, isFinal = false) => ({ kind: 'failed', code, isFinal, isGone: code === DiagnosticCode.expired });

/**
 * Notes that a claimed secret was shown, or that it waits for the next wake.
 *
 * @param {SecurePushClient} client
 * @param {SecretNotification} secret
 * @param {boolean} isShown whether the user sees it, or the generic text if only the app shows it
 * @param {Wake} wake
 */
export async function settle(client, { id, display, expiresAt }, isShown, wake) {
  const { now } = client.clock;
  const end = await client.keeper.tryUpdate(null, (changes, state) => {
    if (state.userChanges > wake.userChanges) return 'withdrawn';
    const end = changes.ledger.settle(id, client.process, isShown, now);
    if (!isShown) return end;
    if (expiresAt !== null) changes.expire(id, expiresAt);
    if (display === 'full') changes.report(id);
    else changes.reportGeneric(id, null);
    return end;
  });
  client.inFlight.delete(id);
  // It was withdrawn, or the user changed, while it was shown.
  if (end === 'withdrawn') await showWithdrawn(client, id);
}

/**
 * Shows a secret by the presenter, or what is shown in place of it.
 *
 * @param {SecurePushClient} client
 * @param {Acquisition} acquisition
 * @param {string} id
 * @param {Wake} wake
 * @returns {Promise<WakeReport>}
 */
export async function finish(client, acquisition, id, wake) {
  if (wake.isOver) {
    // The user sees the generic text, and the secret waits for the next wake.
    if (acquisition.kind === 'secret') await settle(client, acquisition.secret, false, wake);
    return wakeReport({ result: 'failed', code: DiagnosticCode.timedOut });
  }
  switch (acquisition.kind) {
    case 'settled': return wakeReport();
    case 'secret': {
      const { secret } = acquisition;
      const isHidden = secret.display !== 'full';
      try {
        wake.showing = isHidden ? client.presenter.showNotice(
          { id, localizationKey: client.configuration.texts.hidden, code: null }) : client.presenter.showSecret(secret);
        await wake.showing;
      } catch {
        await settle(client, secret, false, wake);
        if (!await client.isCurrent(wake)) return wakeReport();
        return noticeOnce(client, id, { code: DiagnosticCode.notPresented, isFinal: false, isGone: false });
      }
      // The generic text may have replaced a secret that has appeared too late. The next wake shows it again.
      await settle(client, secret, !wake.isNoticed, wake);
      return wake.isNoticed ? wakeReport({ result: 'failed', waiting: [id], code: DiagnosticCode.timedOut })
        : wakeReport({ result: 'newData', shown: isHidden ? [] : [id] });
    }
    case 'failed': return noticeOnce(client, id, acquisition);
    case 'loggedOut': return prompt(client, [id], acquisition.code);
    default: return client.showLockedNotice();
  }
}

/**
 * Shows the generic text, once per notification.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {{code: string, isFinal: boolean, isGone: boolean}} failure
 * @returns {Promise<WakeReport>}
 */
async function noticeOnce(client, id, { code, isFinal, isGone }) {
  const isFirst = await client.keeper.tryUpdate(true, (changes) => {
    const isFirst = changes.ledger.markNoticed(id, isFinal);
    // The server has nothing to note of what is gone.
    if (isFirst && !isGone) changes.reportGeneric(id, code);
    return isFirst;
  });
  if (isFirst && (!isGone || client.configuration.showsNoticeWhenGone)) await showNotice(client, id, code);
  return wakeReport({ result: 'failed', waiting: isFinal ? [] : [id], code });
}

/**
 * Shows a notice. If the browser refuses, there is nothing else to show.
 *
 * @param {SecurePushClient} client
 * @param {string | null} id
 * @param {string} code
 * @param {string} [localizationKey]
 */
export async function showNotice(client, id, code, localizationKey = client.configuration.texts.generic) {
  await client.presenter.showNotice({ id, localizationKey, code }).catch(() => {});
}

/**
 * Asks the user to log in, once more for each new notification.
 *
 * @param {SecurePushClient} client
 * @param {string[]} ids
 * @param {string} code
 * @returns {Promise<WakeReport>}
 */
export async function prompt(client, ids, code) {
  const waiting = await client.keeper.tryUpdate([], ({ ledger }, state) => {
    const news = ids.filter((id) => ledger.markNoticed(id));
    state.isPrompted = true;
    return news.length > 0 ? ledger.waiting : [];
  });
  if (waiting.length > 0) {
    const localizationKey = client.configuration.texts.logIn;
    await client.presenter.showPrompt({ ids: waiting, localizationKey, code }).catch(() => {});
  }
  return wakeReport({ result: 'failed', waiting: ids, code });
}
