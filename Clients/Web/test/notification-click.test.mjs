import assert from 'node:assert/strict';
import test from 'node:test';
import { SecurePushFailure } from '../lib/codes.js';
import { PushWorker } from '../securepush-worker.js';

const scope = 'https://app.example.org/mail/';
const id = '0190f0aa-0000-7000-8000-000000000001';

/** Clicks a notification while these windows are open; the flagged ones are not controlled by the worker. */
async function click(windows, { page = './', data = { securePush: 1, secureId: id }, action = '', code = null } = {}) {
  const done = [];
  const client = {
    events: { send: (event) => done.push(event) }, configuration: { texts: { unanswered: 'securepush.unanswered' } },
    presenter: { showNotice: async (notice) => { done.push(notice); } },
    answer: async (...call) => {
      done.push(call);
      if (code) throw new SecurePushFailure(code);
    },
  };
  const worker = new PushWorker({
    client, page, scope: {
      registration: { scope },
      clients: {
        matchAll: async ({ type, includeUncontrolled = false }) => windows
          .filter(({ isControlled = true }) => type === 'window' && (isControlled || includeUncontrolled))
          .map(({ url, canFocus = true }) => ({ url, focus: async () => {
            if (!canFocus) throw new DOMException('Not now.', 'InvalidAccessError');
            done.push(url);
          } })),
        openWindow: async (url) => { done.push(`new ${url}`); },
      },
    },
  });
  await worker.onClick({ action, notification: { data, close: () => done.push('closed') } });
  return done;
}

const told = { kind: 'open', id };

for (const [name, windows, expected] of [
  ['the page itself', [{ url: scope }], ['closed', scope, told]],
  ['the page with a fragment', [{ url: `${scope}#top` }], ['closed', `${scope}#top`, told]],
  ['another page of the app', [{ url: `${scope}inbox` }], ['closed', `${scope}inbox`, told]],
  ['the page before others', [{ url: `${scope}inbox` }, { url: scope }], ['closed', scope, told]],
  ['a page that the worker does not control', [{ url: scope, isControlled: false }], ['closed', scope, told]],
  ['a page that cannot get the focus', [{ url: scope, canFocus: false }], ['closed', told]],
  ['a page of another app on the origin', [{ url: 'https://app.example.org/shop', isControlled: false }],
    ['closed', `new ${scope}#${id}`]],
  ['no page', [], ['closed', `new ${scope}#${id}`]],
]) test(`a click with ${name} open`, async () => { assert.deepEqual(await click(windows), expected); });

test('a click on the prompt, and on what is not ours', async () => {
  assert.deepEqual(await click([], { data: { securePush: 1 }, page: 'inbox' }), ['closed', `new ${scope}inbox`]);
  assert.deepEqual(await click([{ url: scope }], { data: null }), []);
});

const asked = { securePush: 1, secureId: id, actions: [{ id: 'approve', takesText: false }, { id: 'reply', takesText: true }] };

for (const [name, options, expected] of [
  ['a button answers', { action: 'approve' }, [[id, 'approve']]],
  ['a button whose answer has a text opens the app', { action: 'reply' }, ['closed', `new ${scope}#${id}`]],
  ['a button that the message does not have opens the app', { action: 'deny' }, ['closed', `new ${scope}#${id}`]],
  ['a button opens the app if the sender asks for a challenge', { action: 'approve', code: 'SP-422' },
    [[id, 'approve'], 'closed', `new ${scope}#${id}`]],
  ['a button tells that the answer was not sent', { action: 'approve', code: 'SP-OFFLINE' },
    [[id, 'approve'], { id, localizationKey: 'securepush.unanswered', code: 'SP-OFFLINE' }]],
]) test(name, async () => { assert.deepEqual(await click([], { data: asked, ...options }), expected); });

for (const [link, isOpened] of [
  ['https://app.example.org/shop?item=1', true], ['https://other.example.org/', false], ['javascript:alert(1)', false],
  ['http://app.example.org/', false], ['//app.example.org/', false], ['', false], [undefined, false],
]) {
  test(`a click on a message with the link ${link} opens ${isOpened ? 'it' : 'the app'}`, async () => {
    const data = { ...asked, link };
    assert.deepEqual(await click([], { data }), ['closed', `new ${isOpened ? link : `${scope}#${id}`}`]);
    assert.deepEqual(await click([], { data, action: 'approve' }), [[id, 'approve']]);
  });
}
