import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { outcomeFailure } from './inbox.js';
import { isPushID } from './push.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * Answers a notification. The same answer again is none, so it is repeated after a lost answer of the server.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @param {string} action
 * @param {{text?: string, challenge?: string}} more
 * @throws {SecurePushFailure}
 */
export async function sendAnswer(client, id, action, { text = undefined, challenge = undefined }) {
  if (!isPushID(id)) throw new SecurePushFailure(DiagnosticCode.status(404));
  const { clock, keeper, presenter } = client;
  const DeviceId = (await keeper.tryRead())?.registration.installationID ?? undefined;
  const json = { Action: action, Text: text || undefined, Challenge: challenge || undefined, DeviceId };
  const outcome = await client.connection.send(
    { method: 'POST', path: `api/notifications/${id}/answer`, json, success: 204 }, client.begin().deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
  // The next wake must not show it.
  await keeper.tryUpdate(null, ({ ledger }) => ledger.withdraw(id, clock.now));
  await presenter.withdraw({ id, localizationKey: client.configuration.texts.answered });
  client.events?.send({ kind: 'wake' });
}
