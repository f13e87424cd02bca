import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { acquire, settle } from './fetching.js';
import { sendReports } from './inbox.js';
import { receive } from './receiving.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * Fetches the secret of a push for an app that shows it by itself.
 *
 * @param {SecurePushClient} client
 * @param {import('./push.js').IncomingPush} push
 * @param {import('./client.js').Wake} wake
 * @returns {Promise<import('./answers.js').SecretNotification | null>}
 * @throws {SecurePushFailure}
 */
export async function secretOf(client, push, wake) {
  const reception = await receive(client, push, wake);
  switch (reception.kind) {
    case 'locked': throw new SecurePushFailure(DiagnosticCode.locked);
    case 'ignored': throw new SecurePushFailure(reception.code);
    case 'unverified': throw new SecurePushFailure(DiagnosticCode.credentials);
    case 'unusable': throw new SecurePushFailure(DiagnosticCode.malformedPush);
    case 'withdrawn':
    case 'settled': return null;
    default:
  }
  const { id } = reception;
  const acquisition = await acquire(client, id, wake, wake.deadline);
  switch (acquisition.kind) {
    case 'settled': return null;
    case 'locked': throw new SecurePushFailure(DiagnosticCode.locked);
    case 'loggedOut': throw new SecurePushFailure(acquisition.code);
    case 'failed':
      // What is final waits no more.
      if (acquisition.isFinal) await client.keeper.tryUpdate(null, ({ ledger }) => ledger.markNoticed(id, true));
      throw new SecurePushFailure(acquisition.code);
    default:
  }
  const { secret, unread } = acquisition;
  // The app shows it, whatever the system may get.
  await settle(client, { ...secret, display: 'full', expiresAt: null }, true, wake);
  if (unread !== null) client.setBadge(unread);
  sendReports(client);
  return secret;
}
