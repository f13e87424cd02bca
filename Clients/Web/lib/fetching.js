import { readSecretAnswer } from './answers.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { openEnvelope } from './envelope.js';
import { resolveDoubts } from './receiving.js';
import { wakeReport } from './report.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./answers.js').SecretNotification} SecretNotification
 * @typedef {import('./report.js').WakeReport} WakeReport
 */

/**
 * The result of fetching a secret and claiming the right to show it.
 *
 * - `secret`: the caller shows it and then calls {@link settle}.
 * - `settled`: it was shown or withdrawn, or somebody else is about to show it.
 * - `failed`: it cannot be had now. `isFinal`: it is not fetched again. `isGone`: the server does not give it to this
 * user.
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
 * @param {import('./client.js').Wake} wake
 * @returns {Promise<WakeReport>}
 */
export async function fetchAndShow(client, id, wake) {
  const acquisition = await acquire(client, id, wake.deadline);
  if (acquisition.kind === 'secret' && acquisition.unread !== null) await client.setBadge(acquisition.unread);
  return finish(client, acquisition, id);
}

/**
 * Fetches a secret and claims it.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
export async function acquire(client, id, deadline) {
  if (client.underWay.has(id)) return { kind: 'settled' };
  client.underWay.add(id);
  const wasAsked = await client.keeper.tryUpdate(true, ({ ledger }) => ledger.ask(id));
  const call = { path: `api/notifications/${id}`, query: /** @type {[string, string][]} */ ([['include', 'unread']]) };
  const { outcome, tries } = await client.connection.sendCounting(call, deadline);
  if (outcome.kind === 'success') {
    try {
      const { secret, unread } = readSecretAnswer(outcome.body, id);
      return await claim(client, secret, unread, wasAsked || tries > 1, deadline);
    } catch (error) {
      client.underWay.delete(id);
      return failure(error);
    }
  }
  client.underWay.delete(id);
  if (outcome.kind !== 'refused') return outcome.kind === 'failed' ? failed(outcome.code) : outcome;
  const isGone = [403, 404, 410].includes(outcome.status);
  return { kind: 'failed', code: DiagnosticCode.status(outcome.status), isFinal: isGone, isGone };
}

/**
 * Decrypts and claims a secret that is in `underWay`.
 *
 * @param {SecurePushClient} client
 * @param {SecretNotification} fetched
 * @param {number | null} unread
 * @param {boolean} wasAsked
 * @param {number} deadline
 * @returns {Promise<Acquisition>}
 */
export async function claim(client, fetched, unread, wasAsked, deadline) {
  const { id } = fetched;
  const leave = (/** @type {Acquisition} */ acquisition) => {
    client.underWay.delete(id);
    return acquisition;
  };
  let secret;
  try { secret = await decrypt(client, fetched); } catch (error) { return leave(failure(error)); }
  for (;;) {
    const { now } = client.clock;
    const claimed = await client.keeper.tryUpdate(null, (changes) => (
      changes.claim(secret, wasAsked, client.process, now)));
    if (!claimed) return leave({ kind: 'locked' });
    if (claimed.kind === 'granted') return { kind: 'secret', secret, unread };
    if (claimed.kind === 'settled') return leave({ kind: 'settled' });
    if (claimed.kind === 'inDoubt') {
      await resolveDoubts(client);
    } else if (client.clock.uptime + claimed.seconds < deadline) {
      // If the other process dies now, this one shows the secret.
      await client.clock.sleep(claimed.seconds);
    } else {
      return leave({ kind: 'settled' });
    }
  }
}

/**
 * Opens the envelope of a secret that is encrypted for this device.
 *
 * @param {SecurePushClient} client
 * @param {SecretNotification} secret
 * @returns {Promise<SecretNotification>}
 * @throws {SecurePushFailure} `SP-KEY` or `SP-DECRYPT`
 */
export async function decrypt(client, secret) {
  if (secret.json[0] !== '{') return secret;
  const state = await client.keeper.tryRead();
  const { json, text } = await openEnvelope(secret.json, {
    recipient: state?.owner ?? '', device: state?.registration.installationID ?? null,
    key: await client.store.deviceKey().catch(() => null), crypto: client.crypto,
  });
  return { ...secret, json, text };
}

/**
 * @param {unknown} error
 * @returns {Acquisition}
 */
function failure(error) {
  const code = error instanceof SecurePushFailure ? error.code : DiagnosticCode.malformedAnswer;
  return failed(code, [DiagnosticCode.noKey, DiagnosticCode.undecryptable].includes(code));
}

/**
 * @param {string} code
 * @param {boolean} [isFinal]
 * @returns {Acquisition}
 */
const failed = (code, isFinal = false) => ({ kind: 'failed', code, isFinal, isGone: false });

/**
 * Notes that a claimed secret was shown, or that it waits for the next wake.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {boolean} isShown
 */
async function settle(client, id, isShown) {
  const { now } = client.clock;
  const end = await client.keeper.tryUpdate(null, (changes) => {
    const end = changes.ledger.settle(id, client.process, isShown, now);
    if (isShown) changes.report(id);
    return end;
  });
  client.underWay.delete(id);
  // It was withdrawn while it was shown.
  if (end === 'withdrawn') await client.presenter.remove([id]);
}

/**
 * Shows a secret by the presenter, or what is shown in place of it.
 *
 * @param {SecurePushClient} client
 * @param {Acquisition} acquisition
 * @param {string} id
 * @returns {Promise<WakeReport>}
 */
export async function finish(client, acquisition, id) {
  switch (acquisition.kind) {
    case 'settled': return wakeReport();
    case 'secret':
      try {
        await client.presenter.showSecret(acquisition.secret);
      } catch {
        await settle(client, id, false);
        return noticeOnce(client, id, { code: DiagnosticCode.notPresented, isFinal: false, isGone: false });
      }
      await settle(client, id, true);
      return wakeReport({ result: 'newData', shown: [id] });
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
  const isFirst = await client.keeper.tryUpdate(true, ({ ledger }) => ledger.notice(id, isFinal));
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
    const news = ids.filter((id) => ledger.notice(id));
    state.isPrompted = true;
    return news.length > 0 ? ledger.waiting : [];
  });
  if (waiting.length > 0) {
    const localizationKey = client.configuration.texts.logIn;
    await client.presenter.showPrompt({ ids: waiting, localizationKey, code }).catch(() => {});
  }
  return wakeReport({ result: 'failed', waiting: ids, code });
}
