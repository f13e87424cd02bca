// The user's devices: those that receive messages, and how to remove one that was lost.
import { failureText, language, text } from './texts.js';

const byId = (id) => document.getElementById(id);
const needsLogIn = ({ code }) => ['SP-401', 'SP-LOGIN'].includes(code);
const platforms = { apns: 'Apple', fcmv1: 'Android', gcm: 'Android', adm: 'Amazon', wns: 'Windows', browser: 'Browser' };

/** Asks once more before something is done: the next press within a few seconds does it. */
function confirmed(button, words, work) {
  let timer = null;
  const reset = () => {
    clearTimeout(timer);
    timer = null;
    button.textContent = words;
  };
  reset();
  button.addEventListener('blur', reset);
  button.addEventListener('click', async () => {
    if (timer === null) {
      button.textContent = text('really', words);
      timer = setTimeout(reset, 5_000);
      return;
    }
    reset();
    button.disabled = true;
    await work().finally(() => { button.disabled = false; });
  });
}

export class DevicesView {
  /**
   * @param {import('./securepush/securepush.js').SecurePushClient} client
   * @param {(message: string) => void} tell tells a screen reader
   */
  constructor(client, tell) {
    this.client = client;
    this.tell = tell;
    confirmed(byId('sign-out'), text('signOutEverywhere'), () => this.#run(async () => {
      await client.signOutEverywhere();
      byId('devices').dispatchEvent(new CustomEvent('signed-out'));
    }));
  }

  clear() { byId('device-list').replaceChildren(); }

  /** Lists the devices. */
  async update() {
    byId('devices').setAttribute('aria-busy', 'true');
    await this.#run(async () => {
      const devices = await this.client.devices();
      devices.sort((one, other) => Number(other.isThisDevice) - Number(one.isThisDevice));
      byId('device-list').replaceChildren(...devices.map((device) => this.#item(device)));
      byId('no-devices').hidden = devices.length > 0;
    });
    byId('devices').removeAttribute('aria-busy');
  }

  #item({ id, platform, lastSeenAt, isThisDevice }) {
    const item = byId('one-device').content.firstElementChild.cloneNode(true);
    const name = platforms[platform] ?? platform;
    item.querySelector('.name').textContent = name;
    const day = lastSeenAt && new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
      .format(new Date(lastSeenAt));
    item.querySelector('.seen').textContent = day ? text('lastSeen', day) : '';
    item.querySelector('.this').hidden = !isThisDevice;
    item.querySelector('.this').textContent = text('thisDevice');
    const remove = item.querySelector('button');
    remove.hidden = isThisDevice;
    remove.setAttribute('aria-describedby', item.querySelector('.name').id = `name-${id}`);
    confirmed(remove, text('removeDevice'), () => this.#run(async () => {
      await this.client.removeDevice(id);
      item.remove();
      this.tell(text('deviceRemoved', name));
      byId('devices-title').focus();
    }));
    return item;
  }

  async #run(work) {
    byId('devices-error').hidden = true;
    try {
      await work();
    } catch (error) {
      if (needsLogIn(error)) byId('entries').dispatchEvent(new CustomEvent('session-end'));
      byId('devices-error').textContent = failureText(error.code);
      byId('devices-error').hidden = false;
    }
  }
}
