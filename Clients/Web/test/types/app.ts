// The page of an app in TypeScript. `types.test.mjs` compiles it against the package with `tsc --strict`.
import {
  ClientEvents, ClientStoreError, FetchTransport, IndexedDBStore, makeConfiguration, SecurePushClient, SecurePushFailure,
  TokenCredentialsProvider, WebNotificationPresenter,
} from 'securepush-web';
import type {
  CredentialsProvider, InboxPage, Message, NotificationPresenter, UserDevice, SecretNotification,
} from 'securepush-web';

const retrievalURL = 'https://push.example.com';
const store = new IndexedDBStore();
const transport = new FetchTransport();
const events = new ClientEvents();
const credentials = new TokenCredentialsProvider({ retrievalURL, store, transport, events });

export const client = new SecurePushClient({
  configuration: makeConfiguration({
    retrievalURL, limits: { secondsPerTry: 5 }, texts: { generic: 'generic' }, senderKeys: { keys: [] }, requiresEncryption: true,
  }),
  credentials, store, transport, events, presenter: new WebNotificationPresenter({ title: 'My app' }),
});

/** An app with a session of its own. */
class OwnSession implements CredentialsProvider {
  async userName(): Promise<string | null> { return 'alice'; }
  async credentials() { return { kind: 'bearer' as const, token: 'secret' }; }
  async refresh(): Promise<null> { return null; }
}

/** An app that shows notifications by itself. */
class OwnPresenter implements NotificationPresenter {
  readonly shown = new Set<string>();
  async showSecret({ id, text }: SecretNotification) { this.shown.add(`${id} ${text}`); }
  async showNotice() {}
  async showPrompt() {}
  async remove(ids: string[]) { for (const id of ids) this.shown.delete(id); }
  async removePrompt() {}
  async setBadge(count: number) { document.title = count.toFixed(0); }
  async displayedSecrets() { return this.shown; }
}

export const other = new SecurePushClient({
  configuration: makeConfiguration({ retrievalURL }), credentials: new OwnSession(), store, transport,
  presenter: new OwnPresenter(),
});

export async function visit(): Promise<string[]> {
  const installationID = await client.subscribe({ tags: ['news'], timeout: 8 }).catch((error: unknown) => {
    if (error instanceof SecurePushFailure && error.installationID !== null) return error.installationID;
    throw error;
  });
  const fingerprint: string | null = await client.encryptionKeyFingerprint();
  const { result, shown, code } = await client.catchUp();
  if (result === 'failed' && code !== null) console.log(installationID, code.startsWith('SP-'));
  const page: InboxPage = await client.inbox({ unreadOnly: true });
  const texts: string[] = [];
  for (const { id, isRead, createdAt } of page.entries) {
    if (isRead) continue;
    const { text, message, json } = await client.read(id);
    texts.push(`${createdAt ?? ''} ${message?.title ?? ''} ${text ?? json}`);
  }
  return [...shown, ...texts, fingerprint ?? ''];
}

export async function logIn(userName: string, password: string): Promise<string | null> {
  try {
    await credentials.logIn(userName, password);
  } catch (error) {
    if (error instanceof SecurePushFailure) return error.code;
    throw error;
  }
  await client.resumeAfterLogIn();
  return null;
}

export async function logOut(): Promise<boolean> {
  try {
    return await client.logOut();
  } catch (error) {
    if (error instanceof ClientStoreError) return error.reason !== 'locked';
    throw error;
  }
}

export async function approve(id: string, challenge: string): Promise<boolean> {
  const message: Message | null = (await client.read(id)).message;
  const action = message?.actions?.find((candidate) => !candidate.takesText);
  if (!action) return false;
  await client.answer(id, action.id, { challenge });
  const others: UserDevice[] = (await client.devices()).filter((device) => !device.isThisDevice);
  for (const device of others) await client.removeDevice(device.id);
  return true;
}

events.listen((event) => {
  if (event.kind === 'open' && event.id !== null) location.hash = event.id;
});

// @ts-expect-error the address is required
makeConfiguration({});
// @ts-expect-error a limit is a number
makeConfiguration({ retrievalURL, limits: { secondsPerTry: '5' } });
// @ts-expect-error a report has three results
export const isDone = async () => (await client.catchUp()).result === 'done';
// @ts-expect-error IDs are a list
client.markAsRead('019aa4a2');
