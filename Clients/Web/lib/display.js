/**
 * How much of a secret the system gets: the text; the text only where it is shown while the device is unlocked, which
 * browsers cannot promise, so the generic text; or never the text.
 *
 * @typedef {'full' | 'redacted' | 'app'} Display
 */

/** From the least to the most strict one. */
export const displays = Object.freeze(/** @type {Display[]} */ (['full', 'redacted', 'app']));

/**
 * The stricter one of two.
 *
 * @param {Display} one
 * @param {Display} other
 * @returns {Display}
 */
export const stricter = (one, other) => displays[Math.max(displays.indexOf(one), displays.indexOf(other))];
