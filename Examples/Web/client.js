// The client. The page and its service worker each have one, on the same store.
import * as config from './config.js';
import {
  ClientEvents, FetchTransport, IndexedDBStore, makeConfiguration, SecurePushClient, TokenCredentialsProvider,
  WebNotificationPresenter,
} from './securepush/securepush.js';
import { language, texts } from './texts.js';

export const events = new ClientEvents();
export const store = new IndexedDBStore();
const transport = new FetchTransport();
const { retrievalURL, pushKeys } = config;

export const credentials = new TokenCredentialsProvider({ retrievalURL, store, transport, events });

export const client = new SecurePushClient({
  configuration: makeConfiguration({ retrievalURL, pushKeys, encryptsEndToEnd: true }),
  credentials, store, transport, events,
  presenter: new WebNotificationPresenter({
    title: 'SecurePush', texts,
    options: { icon: './icons/icon-192.png', badge: './icons/badge-96.png', lang: language },
  }),
});
