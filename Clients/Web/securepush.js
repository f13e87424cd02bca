/**
 * SecurePush for web apps: an ES module without dependencies and without a build step.
 *
 * A push names a notification. The client fetches the secret with the user's credentials and shows it, once. If it
 * cannot, it shows a generic text or asks the user to log in, and shows the secret after that. The page and its service
 * worker make one client each, on the same `IndexedDBStore`.
 *
 * @module securepush
 */
export { SecurePushClient } from './lib/client.js';
export { makeConfiguration, defaultLimits, defaultTexts } from './lib/configuration.js';
export { DiagnosticCode, SecurePushFailure } from './lib/codes.js';
export { IncomingPush } from './lib/push.js';
export { SenderKeySet } from './lib/key-set.js';
export { PushKeySet, PushVerifier } from './lib/push-keys.js';
export { TokenCredentialsProvider, FixedCredentialsProvider } from './lib/credentials.js';
export { ClientStoreError, MemoryClientStore } from './lib/store.js';
export { IndexedDBStore } from './lib/indexeddb-store.js';
export { FetchTransport, TransportError } from './lib/transport.js';
export { SystemClientClock } from './lib/clock.js';
export { WebNotificationPresenter, englishTexts } from './lib/presenter.js';
export { DeviceKey } from './lib/device-key.js';
export { openEnvelope } from './lib/envelope.js';
export { subscribeToPush, pushDevice } from './lib/subscription.js';
export { ClientEvents } from './lib/events.js';
export { userTag } from './lib/user-tag.js';

/**
 * @typedef {import('./lib/inbox.js').AppEntry} InboxEntry
 * @typedef {import('./lib/inbox.js').AppPage} InboxPage
 * @typedef {import('./lib/devices.js').UserDevice} UserDevice
 * @typedef {import('./lib/display.js').Display} Display
 * @typedef {import('./lib/answers.js').SecretNotification} SecretNotification
 * @typedef {import('./lib/clock.js').ClientClock} ClientClock
 * @typedef {import('./lib/configuration.js').ClientLimits} ClientLimits
 * @typedef {import('./lib/configuration.js').ClientTexts} ClientTexts
 * @typedef {import('./lib/configuration.js').SecurePushConfiguration} SecurePushConfiguration
 * @typedef {import('./lib/credentials.js').ClientCredentials} ClientCredentials
 * @typedef {import('./lib/credentials.js').CredentialsProvider} CredentialsProvider
 * @typedef {import('./lib/events.js').ClientEvent} ClientEvent
 * @typedef {import('./lib/envelope.js').Opened} Opened
 * @typedef {import('./lib/message.js').Message} Message
 * @typedef {import('./lib/message.js').MessageAction} MessageAction
 * @typedef {import('./lib/presenter.js').BriefText} BriefText
 * @typedef {import('./lib/presenter.js').GenericNotice} GenericNotice
 * @typedef {import('./lib/presenter.js').LogInPrompt} LogInPrompt
 * @typedef {import('./lib/presenter.js').NotificationPresenter} NotificationPresenter
 * @typedef {import('./lib/presenter.js').Repetition} Repetition
 * @typedef {import('./lib/report.js').WakeReport} WakeReport
 * @typedef {import('./lib/state.js').ClientState} ClientState
 * @typedef {import('./lib/store.js').ClientStore} ClientStore
 * @typedef {import('./lib/store.js').Departure} Departure
 * @typedef {import('./lib/store.js').OpenedEnvelope} OpenedEnvelope
 * @typedef {import('./lib/store.js').StoredCredentials} StoredCredentials
 * @typedef {import('./lib/store.js').StoredValues} StoredValues
 * @typedef {import('./lib/subscription.js').PushDevice} PushDevice
 * @typedef {import('./lib/transport.js').Transport} Transport
 * @typedef {import('./lib/transport.js').TransportRequest} TransportRequest
 * @typedef {import('./lib/transport.js').TransportResponse} TransportResponse
 */
