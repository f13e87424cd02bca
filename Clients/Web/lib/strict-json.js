/** Deeper texts are refused: an array in an array has the depth 2. */
const maxDepth = 32;

/**
 * A value of a JSON text, with the text as its writer wrote it: a JavaScript number would lose digits.
 *
 * @typedef {{kind: 'object', json: string, members: Map<string, JSONValue>}
 *   | {kind: 'array', json: string, elements: JSONValue[]} | {kind: 'string', json: string, text: string}
 *   | {kind: 'number' | 'true' | 'false' | 'null', json: string}} JSONValue
 */

/**
 * Reads JSON so that all readers agree: RFC 8259 without repeated names, half surrogate pairs and deep nesting.
 *
 * @param {string | Uint8Array} source bytes are UTF-8 without a byte order mark
 * @returns {JSONValue}
 * @throws {SyntaxError | TypeError} if it is anything else
 */
export function readStrictJSON(source) {
  const text = typeof source === 'string'
    ? source : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(source);
  const scanner = new Scanner(text);
  scanner.skipBlanks();
  const value = scanner.value(0);
  scanner.skipBlanks();
  if (scanner.position < text.length) throw malformed();
  return value;
}

const malformed = () => new SyntaxError('The text is not strict JSON.');

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const blanks = /[ \n\r\t]*/y;
const literals = /** @type {const} */ (['true', 'false', 'null']);

class Scanner {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.position = 0;
  }

  /**
   * @param {number} depth of what is around the value
   * @returns {JSONValue}
   */
  value(depth) {
    const { text, position: start } = this;
    const first = text[start];
    if (first === '{' || first === '[') {
      if (depth >= maxDepth) throw malformed();
      return first === '{' ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (first === '"') {
      const string = this.#string();
      return { kind: 'string', json: text.slice(start, this.position), text: string };
    }
    const kind = literals.find((literal) => text.startsWith(literal, start));
    const json = kind ?? this.#match(number);
    if (!json) throw malformed();
    this.position = start + json.length;
    return { kind: kind ?? 'number', json };
  }

  skipBlanks() { this.position += (this.#match(blanks) ?? '').length; }

  /**
   * @param {number} depth
   * @returns {JSONValue}
   */
  #object(depth) {
    const start = this.position;
    /** @type {Map<string, JSONValue>} */
    const members = new Map();
    this.#list('}', () => {
      if (this.text[this.position] !== '"') throw malformed();
      const name = this.#string();
      if (members.has(name)) throw malformed();
      this.skipBlanks();
      this.#take(':');
      this.skipBlanks();
      members.set(name, this.value(depth));
    });
    return { kind: 'object', json: this.text.slice(start, this.position), members };
  }

  /**
   * @param {number} depth
   * @returns {JSONValue}
   */
  #array(depth) {
    const start = this.position;
    /** @type {JSONValue[]} */
    const elements = [];
    this.#list(']', () => { elements.push(this.value(depth)); });
    return { kind: 'array', json: this.text.slice(start, this.position), elements };
  }

  /**
   * @param {string} end
   * @param {() => void} item
   */
  #list(end, item) {
    this.position += 1;
    this.skipBlanks();
    for (let isFirst = true; this.text[this.position] !== end; isFirst = false) {
      if (!isFirst) {
        this.#take(',');
        this.skipBlanks();
      }
      item();
      this.skipBlanks();
    }
    this.position += 1;
  }

  #string() {
    const { position: start } = this;
    this.position = endOfString(this.text, start);
    const string = JSON.parse(this.text.slice(start, this.position));
    if (isHalf(string)) throw malformed();
    return string;
  }

  /** @param {string} character */
  #take(character) {
    if (this.text[this.position] !== character) throw malformed();
    this.position += 1;
  }

  /** @param {RegExp} pattern */
  #match(pattern) {
    pattern.lastIndex = this.position;
    return pattern.exec(this.text)?.[0];
  }
}

/**
 * The end of a string in a JSON text, behind its quotation mark.
 *
 * @param {string} text
 * @param {number} start
 * @returns {number}
 * @throws {SyntaxError} if it has none
 */
export function endOfString(text, start) {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first -= 1;
    // An odd number of backslashes escapes the quotation mark.
    if ((end - first) % 2 === 0) return end + 1;
  }
  throw malformed();
}

/**
 * Whether a text has half a surrogate pair, which is no character.
 *
 * @param {string} text
 */
export const isHalf = (text) => /\p{Surrogate}/u.test(text);

/**
 * The members of an object.
 *
 * @param {JSONValue | undefined} value
 * @returns {Map<string, JSONValue> | null} `null` for every other value
 */
export const membersOf = (value) => (value?.kind === 'object' ? value.members : null);

/**
 * The text of a string.
 *
 * @param {JSONValue | undefined} value
 * @returns {string | null} `null` for every other value
 */
export const textOf = (value) => (value?.kind === 'string' ? value.text : null);
