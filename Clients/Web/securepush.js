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
