// A message that is open: its title, text and link, and what its user can answer.
import { failureText, text } from './texts.js';

const needsLogIn = ({ code }) => ['SP-401', 'SP-LOGIN'].includes(code);

/** An element with a text and a class. */
function make(name, className, words = '') {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = words;
  return element;
}

/** A link that the page may offer: nothing but web addresses, with the host to see. */
function linkTo(address) {
  let url;
  try { url = new URL(address); } catch { return null; }
  if (url.protocol !== 'https:') return null;
  const link = make('a', 'link', text('openLink', url.host));
  link.href = url.href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  return link;
}

export class MessageView {
  /**
   * @param {import('./securepush/securepush.js').SecurePushClient} client
   * @param {import('./securepush/securepush.js').SecretNotification} secret
   * @param {(message: string) => void} tell tells a screen reader
   */
  constructor(client, secret, tell) {
    this.client = client;
    this.secret = secret;
    this.tell = tell;
    this.needsChallenge = false;
  }

  /** What is shown. A plain text is nothing but that. */
  get nodes() {
    const { text: body, json, message } = this.secret;
    if (!message) return [body ?? json];
    const title = message.title && make('h3', 'title', message.title);
    const link = message.link && linkTo(message.link);
    return [title, make('p', 'body', message.body), link, ...this.#answering(message.actions ?? [])].filter(Boolean);
  }

  #answering(actions) {
    if (actions.length === 0) return [];
    this.buttons = make('div', 'actions');
    // No answer stands out before the user has chosen one.
    for (const action of actions) {
      const button = make('button', '', action.title);
      button.type = 'button';
      button.addEventListener('click', () => this.#choose(action, button));
      this.buttons.append(button);
    }
    this.form = document.createElement('form');
    this.form.hidden = true;
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.outcome = make('p', 'outcome');
    this.outcome.hidden = true;
    return [this.buttons, this.outcome, this.form];
  }

  #choose(action, button) {
    this.action = action;
    for (const other of this.buttons.children) other.setAttribute('aria-pressed', String(other === button));
    if (action.takesText || this.needsChallenge) this.#ask();
    else this.#send();
  }

  /** Asks for what the answer needs beside the action. What was typed stays. */
  #ask() {
    const [words, challenge] = ['words', 'challenge'].map((name) => this.form.elements[name]?.value ?? '');
    const fields = [];
    if (this.action.takesText) fields.push(this.#field('words', text('answerText'), words));
    if (this.needsChallenge) fields.push(this.#field('challenge', text('challenge'), challenge));
    const send = make('button', 'main', text('sendAnswer', this.action.title));
    this.form.replaceChildren(...fields, send);
    this.form.hidden = false;
    (this.form.querySelector('.wrong') ?? this.form.elements[this.needsChallenge ? 'challenge' : 'words']).focus();
  }

  #field(name, words, value) {
    const label = make('label', '', words);
    const field = document.createElement(name === 'words' ? 'textarea' : 'input');
    Object.assign(field, { name, value, autocomplete: 'off', required: true, maxLength: name === 'words' ? 500 : 16 });
    if (name === 'challenge') Object.assign(field, { autocapitalize: 'none', spellcheck: false });
    label.append(field);
    return label;
  }

  async #send() {
    const { action, form: { elements } } = this;
    const more = { text: elements.words?.value, challenge: elements.challenge?.value };
    for (const button of this.#allButtons()) button.disabled = true;
    try {
      await this.client.answer(this.secret.id, action.id, more);
      this.#end(text('answered', action.title));
    } catch (error) {
      for (const button of this.#allButtons()) button.disabled = false;
      this.#fail(error);
    }
  }

  #allButtons() { return [...this.buttons.children, ...this.form.querySelectorAll('button')]; }

  #fail(error) {
    if (needsLogIn(error)) {
      this.outcome.dispatchEvent(new CustomEvent('session-end', { bubbles: true }));
    } else if (error.code === 'SP-409') {
      this.#end(text('answeredOtherwise'));
    } else if (error.code === 'SP-410') {
      this.#end(text('answerOver'));
    } else if (error.code === 'SP-422') {
      this.#say(text(this.needsChallenge ? 'challengeWrong' : 'challengeNeeded'));
      this.needsChallenge = true;
      if (this.form.elements.challenge) this.form.elements.challenge.value = '';
      this.#ask();
    } else {
      this.#say(failureText(error.code));
    }
  }

  #say(words) {
    this.outcome.textContent = words;
    this.outcome.hidden = false;
    this.tell(words);
  }

  #end(words) {
    this.buttons.remove();
    this.form.remove();
    this.#say(words);
  }
}
